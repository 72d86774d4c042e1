import { readFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { readKeyFrameUnits } from '../mpeg-ts/key-frame-units.ts';
import { frameSize, maxPixels, type FrameSize } from './capture-arguments.ts';
import { startDecoder, type DecoderProcess } from './decoder-process.ts';
import type { FfmpegOutput, FfmpegRunner, KeyFramePicture } from './run-ffmpeg.ts';
import type { Chunks } from './spawn-ffmpeg.ts';

export type DecoderPoolDeps = {
  ffmpegPath: string;
  /** Runs a process per capture: for everything that the pool does not decode, and after its failures. */
  ffmpeg: FfmpegRunner;
  maxProcesses: number;
  /** Monotonic clock, in milliseconds. Default: that of the process. */
  elapsedMs?: () => number;
  /** Starts a process that stays. Default: ffmpeg. */
  start?: (size: FrameSize | null) => DecoderProcess;
};

/** Captures of one process, after which another one takes its place. */
const maxCaptures = 500;
const maxResidentBytes = 300e6;
const checkMemoryEvery = 25;
const keepIdleMs = 65_000;
/** Idle time after which another caller or size may replace a process. Callers who replace each other's would cost more than a process per capture. */
const replaceAfterMs = 30_000;
const maxDecodeMs = 3_000;
/** Kinds of streams on which the pool failed, by caller and parameter sets. */
const maxKnown = 2_000;
const maxFailures = 2;

/**
 * Returns a runner that decodes H.264 key frames of MPEG-TS in processes that stay, one frame at a time: starting ffmpeg takes ten times as long as
 * decoding. A process serves one caller and one size of frames. What is not exactly one picture, or has no caller, runs in a process of its own. So does
 * each capture after the pool failed twice on the same kind of stream: a hostile stream ends few shared processes. Of several key frames, the rest runs in
 * one process of its own.
 */
export function poolDecoders({
  ffmpegPath,
  ffmpeg,
  maxProcesses,
  elapsedMs = () => performance.now(),
  start = (size) => startDecoder(ffmpegPath, size),
}: DecoderPoolDeps): FfmpegRunner {
  const failures = new LRUCache<string, number>({ max: maxKnown });
  const members = createMembers({ start, maxProcesses, elapsedMs });
  return {
    run: async (input, wanted, limits, signal) => {
      const { mode, caller } = wanted;
      if (input.kind !== 'pipe' || input.format !== 'mpegts' || mode !== 'frames' || caller === undefined)
        return ffmpeg.run(input, wanted, limits, signal);
      const chunks = await collect(input.chunks);
      const [chunk] = chunks;
      const output =
        chunk && chunks.length === 1 ? await decodeChunk(chunk, caller, 'frames', limits, signal) : null;
      return output ?? ffmpeg.run({ ...input, chunks }, wanted, limits, signal);
    },
    runAll: async (input, wanted, limits, signal) => {
      const { caller } = wanted;
      if (input.format !== 'mpegts' || caller === undefined)
        return ffmpeg.runAll(input, wanted, limits, signal);
      const chunks = await collect(input.chunks);
      const outputs: (KeyFramePicture | null)[] = [];
      for (const [index, chunk] of chunks.entries()) {
        const output = await decodeChunk(chunk, caller, 'thumbnails', limits, signal);
        if (output === null) {
          const left = chunks.slice(index);
          const others = await ffmpeg.runAll({ ...input, chunks: left }, wanted, limits, signal);
          return [...outputs, ...others];
        }
        outputs.push({ thumbnail: output.thumbnail, frame: null });
      }
      return outputs;
    },
    ...(ffmpeg.runEachSecond && { runEachSecond: ffmpeg.runEachSecond }),
  };

  /** Returns null for what needs a process of its own. */
  async function decodeChunk(
    chunk: Uint8Array,
    caller: string,
    wanted: 'frames' | 'thumbnails',
    limits: { timeoutMs: number },
    signal: AbortSignal,
  ): Promise<FfmpegOutput | null> {
    const picture = readKeyFrameUnits(chunk);
    if (picture === null || picture.size.width * picture.size.height > maxPixels) return null;
    const size = frameSize({ ...picture.size, ratio: picture.pixelRatio });
    if (Math.min(size.width, size.height) === 0) return null;
    const kind = `${picture.parameters} ${caller}`;
    const failed = failures.get(kind) ?? 0;
    if (failed >= maxFailures) return null;
    signal.throwIfAborted();
    const member = members.find(caller, wanted === 'frames' ? size : null);
    if (member === undefined) return null;
    const output = await members.decode(member, picture.bytes, Math.min(maxDecodeMs, limits.timeoutMs));
    signal.throwIfAborted();
    if (output) failures.delete(kind);
    else failures.set(kind, failed + 1);
    return output;
  }
}

/** Processes of a pool. */
type Members = {
  /** Returns an idle process of the caller for the size, or for thumbnails of all sizes; starts one, in the place of the longest idle one if there are too many. */
  find(caller: string, size: FrameSize | null): Member | undefined;
  decode(member: Member, keyFrame: Uint8Array, timeoutMs: number): Promise<FfmpegOutput | null>;
};

type MembersDeps = Required<Pick<DecoderPoolDeps, 'start' | 'maxProcesses' | 'elapsedMs'>>;

function createMembers({ start, maxProcesses, elapsedMs }: MembersDeps): Members {
  /** Least recently used first. */
  const members = new Set<Member>();
  return { find, decode };

  function find(caller: string, size: FrameSize | null): Member | undefined {
    const key = `${size === null ? 'thumbnails' : `${size.width}x${size.height}`} ${caller}`;
    const idle = [...members].filter(({ decoder }) => !decoder.isBusy());
    const fitting = idle.find((member) => member.key === key);
    if (fitting) {
      members.delete(fitting);
      members.add(fitting);
      return fitting;
    }
    if (members.size >= maxProcesses) {
      const [replaced] = idle;
      if (replaced === undefined || elapsedMs() - replaced.usedMs < replaceAfterMs) return undefined;
      dismiss(replaced);
    }
    const member: Member = {
      key,
      decoder: start(size),
      captures: 0,
      usedMs: elapsedMs(),
      idleTimer: undefined,
    };
    members.add(member);
    return member;
  }

  async function decode(
    member: Member,
    keyFrame: Uint8Array,
    timeoutMs: number,
  ): Promise<FfmpegOutput | null> {
    clearTimeout(member.idleTimer);
    const picture = await member.decoder.decode(keyFrame, timeoutMs);
    member.captures += 1;
    member.usedMs = elapsedMs();
    if (picture === null || isWorn(member)) dismiss(member);
    else member.idleTimer = setTimeout(() => dismiss(member), keepIdleMs).unref();
    return picture;
  }

  function dismiss(member: Member): void {
    clearTimeout(member.idleTimer);
    members.delete(member);
    member.decoder.close();
  }
}

async function collect(chunks: Chunks): Promise<Uint8Array[]> {
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}

type Member = {
  /** Size, or thumbnails, and caller. */
  key: string;
  decoder: DecoderProcess;
  captures: number;
  usedMs: number;
  idleTimer: NodeJS.Timeout | undefined;
};

function isWorn({ decoder, captures }: Member): boolean {
  if (captures >= maxCaptures) return true;
  return captures % checkMemoryEvery === 0 && residentBytes(decoder.pid) > maxResidentBytes;
}

/** Resident memory of a process on Linux; 0 elsewhere. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
  } catch {
    return 0;
  }
}
