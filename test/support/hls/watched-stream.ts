import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { createJoinClip } from '../../../adapters/media/clips/join-clip.ts';
import { createKeptStreams } from '../../../adapters/media/clips/kept-stream.ts';
import { withoutTurns } from '../../../adapters/media/ffmpeg/in-turn.ts';
import { createFfmpegRunner, type FfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import {
  createHlsCapturer,
  type HlsCapturerDeps,
  type HlsLimits,
} from '../../../adapters/media/hls/capture-hls.ts';
import {
  thumbnail,
  type Capture,
  type CaptureRequest,
  type StreamPosition,
  type StreamProbe,
} from '../../../core/records/capture.ts';
import type { ClipRequest, ClipResult } from '../../../core/records/clip.ts';
import { StreamError } from '../../../core/errors.ts';
import { sharedFolder } from '../runner/run-folder.ts';
import { serveFiles, type FileServer, type Served } from './file-server.ts';
import { ffmpegPath, readMoment, record } from './recording.ts';

/** File server with a capturer for its streams. */
export type WatchedStream = FileServer & {
  /** Current time of the capturer. */
  now: Date;
  capture(path: string, more?: Partial<CaptureRequest>): Promise<Capture>;
  /** Captures a frame and returns the time of the recording that it shows, in seconds. */
  moment(path: string, more?: Partial<CaptureRequest>): Promise<number>;
  probe(path: string): Promise<StreamProbe>;
  /** Reads a clip. */
  clip(
    path: string,
    more: Pick<ClipRequest, 'from' | 'to' | 'openedAt'> & Partial<ClipRequest>,
  ): Promise<ClipResult & { film: Uint8Array }>;
  /** Follows a stream, by default without waits. */
  follow(path: string, following: Following): Promise<void>;
};

type Following = {
  after: StreamPosition | null;
  onFrame: (thumbnail: Uint8Array) => void;
  wait?: NonNullable<HlsCapturerDeps['wait']>;
  signal: AbortSignal;
};

/**
 * Creates a file server and the real capturer: guard, HTTP client, ffmpeg. With `unseen` a frame contains the undecoded
 * bytes.
 */
export async function watchFiles(
  files: Record<string, Served>,
  options: {
    unseen?: boolean;
    ffmpeg?: FfmpegRunner;
    limits?: Partial<HlsLimits>;
    clipBytes?: number;
  } = {},
): Promise<WatchedStream> {
  const server = await serveFiles(files);
  const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
  const ffmpeg = options.ffmpeg ?? (options.unseen ? unseeing : seeing);
  const limits = { requestTimeoutMs: 3_000, ...options.limits };
  let waitBetween: NonNullable<HlsCapturerDeps['wait']> = async () => undefined;
  let waitedMs = 0;
  const wait = async (milliseconds: number, signal: AbortSignal) => {
    // A capture that polls until a time without waits is as busy as the processor allows.
    waitedMs += milliseconds;
    await waitBetween(milliseconds, signal);
  };
  const elapsedMs = () => performance.now() + waitedMs;
  const now = (): Date => watched.now;
  const clips = {
    kept: createKeptStreams({ maxBytes: options.clipBytes ?? 16_000_000, now }),
    join: createJoinClip({ ffmpegPath, inTurn: withoutTurns }),
  };
  const capturer = createHlsCapturer({ http, ffmpeg, now, elapsedMs, limits, wait, clips });
  const never = new AbortController().signal;
  const watched: WatchedStream = {
    ...server,
    now: new Date('2026-11-20T12:00:00Z'),
    capture(path, more = {}) {
      const request = {
        url: server.url(path),
        mode: 'frames',
        clipSeconds: 3,
        caller: 'ada',
        resolveAgain: false,
      } as const;
      return capturer.capture({ ...request, ...more }, never);
    },
    moment: async (path, more) => readMoment((await watched.capture(path, more)).thumbnail),
    probe: (path) => capturer.probe(server.url(path), never, 'ada'),
    clip: async (path, more) => {
      const request = { url: server.url(path), caller: 'ada', mode: 'frames', regions: null } as const;
      let film = new Uint8Array();
      const store = async (stored: Uint8Array) => void (film = new Uint8Array(stored));
      const result = await capturer.clip?.({ store, ...request, ...more }, never);
      if (!result) throw new Error('The capturer has no clips');
      return { ...result, film };
    },
    follow: async (path, { after, onFrame, wait: between = waitBetween, signal }) => {
      waitBetween = between;
      await capturer.follow?.({ url: server.url(path), caller: 'ada', after }, onFrame, signal);
    },
    async close() {
      await http.close();
      await server.close();
    },
  };
  return watched;
}

/**
 * Serves the recording as `/0.ts` to `/7.ts`, which start at twice their number in seconds, and the files of the test.
 */
export async function watchRecording(
  files: Record<string, Served>,
  options: { unseen?: boolean } = {},
): Promise<WatchedStream> {
  const { segments } = await record();
  const all = Object.fromEntries(segments.map((segment, index) => [`/${index}.ts`, segment]));
  return watchFiles({ ...all, ...files }, { ...options, limits: { requestTimeoutMs: 1_500 } });
}

/** Shared runner of a test file, which keeps an idle ffmpeg process. */
const seeing = createFfmpegRunner({ ffmpegPath, tempDir: sharedFolder() });

const unseeing: FfmpegRunner = {
  async run(input) {
    const parts: Uint8Array[] = [];
    if (input.kind === 'pipe') for await (const part of input.chunks) parts.push(part);
    return { frame: Buffer.concat(parts), thumbnail: new Uint8Array(thumbnail.bytes) };
  },
  async runAll(input) {
    const frames: { frame: Uint8Array; thumbnail: Uint8Array }[] = [];
    for await (const frame of input.chunks)
      frames.push({ frame, thumbnail: new Uint8Array(thumbnail.bytes) });
    return frames;
  },
};

/** Requires a stream error with a remediation, and returns it. */
export async function readFailure(promise: Promise<unknown>): Promise<StreamError> {
  const error = await promise.catch((error: unknown) => error);
  if (error instanceof StreamError) return error;
  throw new Error('The error is not a stream error', { cause: error });
}

/** Returns a media playlist. Lines without `#` are segment URLs and receive an EXTINF if they have none. */
export function mediaPlaylist(lines: string[], sequence = 0, segmentSeconds = 2): string {
  const listed = lines.flatMap((line) =>
    line.startsWith('#') ? [line] : [`#EXTINF:${segmentSeconds}.0,`, line],
  );
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${segmentSeconds}`,
    `#EXT-X-MEDIA-SEQUENCE:${sequence}`,
    ...listed,
  ].join('\n');
}
