import { createEgressGuard, type Address } from '../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../adapters/egress/guarded-http.ts';
import { NoFrameDecodedError } from '../../adapters/media/ffmpeg/errors.ts';
import type { FfmpegInput, FfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createStreamCapturer } from '../../adapters/media/stream-capturer.ts';
import { StreamError } from '../../core/errors.ts';
import { record } from '../support/hls/recording.ts';
import { hostileAddress, openCanaries } from './canaries.ts';
import { startHostileServer } from './hostile-server.ts';

export type AttackOptions = {
  ffmpeg?: FfmpegRunner;
  /**
   * DNS responses. By default every name resolves to the hostile server, and `inside.example` and unknown names to a
   * canary.
   */
  lookup?: (host: string) => Promise<Address[]>;
  requestTimeoutMs?: number;
};

/** Real capturer, guard and client between a hostile server and canaries. */
export async function openAttack({
  ffmpeg,
  lookup = lookupInside,
  requestTimeoutMs = 3_000,
}: AttackOptions = {}) {
  const [plain, fragmented] = await Promise.all([record(), record({ segmentType: 'fmp4' })]);
  const canaries = await openCanaries(plain.segments[0] ?? Buffer.alloc(0));
  const server = await startHostileServer(canaries, goodFiles(plain.segments, fragmented));
  const guard = createEgressGuard({ allowRanges: [hostileAddress], lookup });
  const http = createGuardedHttp(guard, { connectTimeoutMs: 1_000 });
  const fed: Uint8Array[] = [];
  const now = (): Date => new Date('2026-11-20T12:00:00Z');
  const hlsLimits = { requestTimeoutMs };
  const capturer = createStreamCapturer({
    guard,
    http,
    ffmpeg: ffmpeg ?? drain(fed),
    now,
    hlsLimits,
  });
  return {
    canaries,
    server,
    guard,
    http,
    capturer,
    /** Input of ffmpeg, if ffmpeg is replaced. */
    fed,
    /** Probes a stream, then captures it, like a job. */
    run: async (url: string): Promise<Outcome> => ({
      probe: await readOutcome(capturer.probe(url, AbortSignal.timeout(20_000), 'ada')),
      capture: await readOutcome(
        capturer.capture(
          { url, mode: 'frames', clipSeconds: 3, caller: 'ada', resolveAgain: false },
          AbortSignal.timeout(20_000),
        ),
      ),
    }),
    async close() {
      await http.close();
      await server.close();
      await canaries.close();
    },
  };
}

export type Attack = Awaited<ReturnType<typeof openAttack>>;

export type Outcome = { probe: string; capture: string };

/** Returns the code of a stream error, or the text of any other error, which is a defect. */
async function readOutcome(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    return error instanceof StreamError ? error.code : `unexpected: ${String(error)}`;
  }
}

async function lookupInside(host: string): Promise<Address[]> {
  return [{ address: host === 'hostile.example' ? hostileAddress : '127.0.0.1', family: 4 }];
}

/** Replaces ffmpeg if none of its input is hostile: reads the data of the guarded client. */
function drain(fed: Uint8Array[]): FfmpegRunner {
  const run = async (input: FfmpegInput): Promise<never> => {
    if (input.kind !== 'pipe') throw new NoFrameDecodedError('No picture');
    for await (const chunk of input.chunks) fed.push(chunk);
    throw new NoFrameDecodedError('No picture');
  };
  return { run, runAll: run };
}

function goodFiles(
  segments: Buffer[],
  fragmented: { segments: Buffer[]; initialization: Buffer | null },
): Record<string, Buffer | string> {
  return {
    'ok.ts': segments[0] ?? '',
    'no-picture.ts': Buffer.alloc(188, 0xff),
    'ok.m4s': fragmented.segments[0] ?? '',
    'init.mp4': fragmented.initialization ?? '',
    key: Buffer.alloc(16, 7),
    'ok.m3u8': ['#EXTM3U', '#EXT-X-TARGETDURATION:2', '#EXTINF:2,', 'ok.ts'].join('\n'),
  };
}

/** Runs `work` for each item, a few concurrently. */
export async function forEachItem<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}
