import { availableParallelism } from 'node:os';
import type { ReportUse, ReportWait } from '../../adapters/fair-queue.ts';
import { createEgressGuard, type EgressGuardOptions } from '../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../adapters/egress/guarded-http.ts';
import { containStreams } from '../../adapters/embedded/load/contain-exceptions.ts';
import { captureAsCaller, type CurrentCaller } from '../../adapters/embedded/load/current-caller.ts';
import { createFairTurns } from '../../adapters/embedded/load/fair-turns.ts';
import { limitCaptures } from '../../adapters/embedded/load/limit-captures.ts';
import {
  createDecodeTurns,
  createSpareTime,
  limitDecodes,
  limitJoins,
} from '../../adapters/embedded/load/limit-decodes.ts';
import { shareCaptures } from '../../adapters/embedded/load/share-captures.ts';
import { createJoinClip } from '../../adapters/media/clips/join-clip.ts';
import { createKeptStreams } from '../../adapters/media/clips/kept-stream.ts';
import { poolDecoders } from '../../adapters/media/ffmpeg/decoder-pool.ts';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createMaskMedia, maskCaptures } from '../../adapters/media/images/mask-media.ts';
import { nameStream, toGroupPart } from '../../adapters/media/rtsp/clip-rtsp.ts';
import {
  createRtspSessions,
  type RtspSessionsDeps,
} from '../../adapters/media/rtsp/session/rtsp-sessions.ts';
import { createStreamCapturer } from '../../adapters/media/stream-capturer.ts';
import type { PlatformSettings } from '../../adapters/platforms/platform-settings.ts';
import { unlimitedTurns, type StreamTurns } from '../../core/ports/stream-capturer.ts';
import { setSystemTimer } from '../../core/time-limit.ts';
import type { Settings } from '../settings.ts';

export type CaptureSchedulerDeps = {
  /** Ranges that streams may use, this service, and its resolver of names. */
  egress: Pick<EgressGuardOptions, 'allowRanges' | 'own' | 'lookup'>;
  platforms: PlatformSettings;
  ffmpegPath: string;
  tempDir: string;
  now: () => Date;
  /** Monotonic clock. Default: `now`. */
  steadyNow?: () => Date;
  /** Turns of captures of checks. Default: no limit. */
  turns?: StreamTurns;
  /** Called with the time for which a capture waited for a turn, or a decode for a decoder. */
  reportWait?: (resource: 'turn' | 'decoder', ...wait: Parameters<ReportWait>) => void;
  /** Called with the time for which a caller had a decoder. */
  reportUse?: ReportUse;
  /** RTSP sessions that stay open between captures; with 0, the default, each capture opens its own. */
  maxRtspSessions?: number;
  /** Called once per stream whose RTSP session was not usable. */
  reportFallback?: (url: string, reason: string) => void;
  /** Decodes key frames in processes that stay. Default: a process per capture. */
  sharesDecoders?: boolean;
  /** Does the work of a capture in the name of its caller. Default: callers are not distinguished. */
  callers?: CurrentCaller;
  /** Maximum bytes of streams that are kept for clips; 0, the default: no clips. */
  clipBytes?: number;
  /** Returns the mean time for which checks wait for this machine. Default: 0. */
  lateSeconds?: () => number;
};

/** Time after a capture at which the process for the next one starts. Its check is done by then. */
const prepareAfterMs = 1_500;
/** Processes that stay, of 10 MB each: callers and sizes of frames that decode without a start of ffmpeg. */
const minSharedDecoders = 8;

const elapsedMs = (): number => performance.now();

/**
 * Creates the captures of one machine. A capture passes, in this order: drawing of its regions, sharing with other
 * checks of the stream, a turn, the stream, and with its bytes a turn of ffmpeg in a shared decoder or a process of its
 * own. Captures of calls share none and have turns of their own. Drawing takes turns of ffmpeg too.
 */
export function createCaptureScheduler(deps: CaptureSchedulerDeps) {
  const { egress, platforms, ffmpegPath, tempDir, now, steadyNow = now, turns = unlimitedTurns } = deps;
  const { reportWait = () => undefined, reportUse, maxRtspSessions = 0, sharesDecoders = false } = deps;
  const guard = createEgressGuard(egress);
  const http = createGuardedHttp(guard);
  const concurrentDecodes = availableParallelism() + 1;
  const { asCaller, currentCaller } = deps.callers ?? {};
  const inTurn = createDecodeTurns({
    max: concurrentDecodes,
    currentCaller,
    elapsedMs,
    setTimer: setSystemTimer,
    report: (...wait) => reportWait('decoder', ...wait),
    reportUse,
  });
  const runner = createFfmpegRunner({ ffmpegPath, tempDir, prepareAfterMs });
  const maxProcesses = Math.max(concurrentDecodes, minSharedDecoders);
  const decoders = sharesDecoders ? poolDecoders({ ffmpegPath, ffmpeg: runner, maxProcesses }) : runner;
  const spare = createSpareTime({
    cores: availableParallelism(),
    currentCaller,
    lateSeconds: deps.lateSeconds ?? (() => 0),
    elapsedMs,
    setTimer: setSystemTimer,
  });
  const ffmpeg = limitDecodes(decoders, inTurn, spare);
  const { clipBytes = 0 } = deps;
  const joinDeps = { currentCaller, elapsedMs, setTimer: setSystemTimer };
  const inLine = limitJoins(joinDeps);
  const clips =
    clipBytes === 0
      ? undefined
      : {
          kept: createKeptStreams({ maxBytes: clipBytes, now }),
          join: createJoinClip({
            ffmpegPath,
            inTurn: limitJoins(joinDeps),
            // One at a time, since it holds a turn of ffmpeg while it waits for that of the clip.
            inEncodingTurn: (work, signal) => inLine(() => inTurn(work, signal), signal),
          }),
        };
  const toClock = (arrivedMs: number): number => now().getTime() - (elapsedMs() - arrivedMs);
  const keepGroup: RtspSessionsDeps['keepGroup'] =
    clips &&
    (({ caller, url }, group, track) =>
      clips.kept.add(caller, nameStream(url), toGroupPart(group, track, toClock)));
  const rtspSessions =
    maxRtspSessions === 0
      ? undefined
      : createRtspSessions({
          guard,
          elapsedMs,
          setTimer: setSystemTimer,
          maxKept: maxRtspSessions,
          ...(keepGroup && { keepGroup }),
          ...(deps.reportFallback && { reportFallback: deps.reportFallback }),
        });
  const capturer = createStreamCapturer({ guard, http, ffmpeg, now, platforms, rtspSessions, clips });
  const streams = containStreams(capturer);
  const limited = limitCaptures(streams, {
    turns,
    elapsedMs,
    report: (...wait) => reportWait('turn', ...wait),
  });
  const maskMedia = createMaskMedia({ ffmpegPath, tempDir, inTurn });
  return {
    guard,
    http,
    /** Captures of calls. */
    streams: captureAsCaller(maskCaptures(streams, maskMedia), asCaller),
    /** Captures of checks. */
    sharedStreams: captureAsCaller(
      {
        ...maskCaptures(shareCaptures({ streams: limited, steadyNow }), maskMedia),
        // Without shared decoders, each key frame would start a process.
        ...(sharesDecoders && streams.follow && { follow: streams.follow }),
      },
      asCaller,
    ),
    /** Clips of alerts. */
    clipStreams: streams,
    /** Streams that are kept for them. Absent without clips. */
    keptStreams: clips?.kept,
    /** Turns of ffmpeg, for all else that it does. */
    inTurn,
    closeSessions: async () => rtspSessions?.close(),
  };
}

/** Maximum wait for a turn, in milliseconds: with the capture below the task timeout of the workflow, 60 s. */
const maxWaitMs = 20_000;

/** Creates separate turns for ticks and for calls, so that probes of callers delay no running job. */
export function createTurns({
  capturesAtOnce,
}: Pick<Settings, 'capturesAtOnce'>): Record<'ticks' | 'calls', StreamTurns> {
  const maxCalls = Math.ceil(capturesAtOnce / 4);
  const common = { maxWaitMs, elapsedMs, setTimer: setSystemTimer };
  return {
    ticks: createFairTurns({ ...common, max: capturesAtOnce, reserved: Math.ceil(capturesAtOnce / 8) }),
    calls: createFairTurns({ ...common, max: maxCalls, maxPerCaller: Math.ceil(maxCalls / 2) }),
  };
}
