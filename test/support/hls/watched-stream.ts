import { tmpdir } from 'node:os';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { createFfmpegRunner, type FfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer, type HlsLimits } from '../../../adapters/media/hls/capture-hls.ts';
import { thumbnail, type Capture, type CaptureRequest, type StreamProbe } from '../../../core/capture.ts';
import { StreamError } from '../../../core/errors.ts';
import { recordingsFolder } from '../recordings-folder.ts';
import { serveFiles, type FileServer, type Served } from './file-server.ts';
import { ffmpegPath, momentOf, record } from './recording.ts';

export type WatchedStream = FileServer & {
  /** Where the clock stands that captures are dated by. */
  now: Date;
  capture(path: string, more?: Partial<CaptureRequest>): Promise<Capture>;
  /** Which moment of its recording a capture of frames shows. */
  moment(path: string, more?: Partial<CaptureRequest>): Promise<number>;
  probe(path: string): Promise<StreamProbe>;
};

/** A server of files and the real capturer in front of it: guard, HTTP client, ffmpeg. With `unseen` a frame is the bytes that were to be decoded: for tests of when, whence and of what. */
export async function watchFiles(
  files: Record<string, Served>,
  options: { unseen?: boolean; limits?: Partial<HlsLimits> } = {},
): Promise<WatchedStream> {
  const server = await serveFiles(files);
  const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
  const ffmpeg = options.unseen ? unseeing : seeing;
  const limits = { requestTimeoutMs: 3_000, ...options.limits };
  const capturer = createHlsCapturer({ http, ffmpeg, now: () => watched.now, limits });
  const never = new AbortController().signal;
  const watched: WatchedStream = {
    ...server,
    now: new Date('2026-11-20T12:00:00Z'),
    capture(path, more = {}) {
      const request = { url: server.url(path), mode: 'frames', clipSeconds: 3, resolveAgain: false } as const;
      return capturer.capture({ ...request, ...more }, never);
    },
    moment: async (path, more) => momentOf((await watched.capture(path, more)).thumbnail),
    probe: (path) => capturer.probe(server.url(path), never),
    async close() {
      await http.close();
      await server.close();
    },
  };
  return watched;
}

/** Serves the recording as `/0.ts` to `/7.ts`, each of which begins at twice its number in seconds, and what the test adds. */
export async function watchRecording(
  files: Record<string, Served>,
  options: { unseen?: boolean } = {},
): Promise<WatchedStream> {
  const { segments } = await record();
  const all = Object.fromEntries(segments.map((segment, index) => [`/${index}.ts`, segment]));
  return watchFiles({ ...all, ...files }, { ...options, limits: { requestTimeoutMs: 1_500 } });
}

/** One for all tests of a file: it keeps an ffmpeg ready for the next capture. */
const seeing = createFfmpegRunner({ ffmpegPath, tempDir: process.env[recordingsFolder] ?? tmpdir() });

const unseeing: FfmpegRunner = {
  async run(input) {
    const parts: Uint8Array[] = [];
    if (input.kind === 'pipe') for await (const part of input.chunks) parts.push(part);
    return { frame: Buffer.concat(parts), thumbnail: new Uint8Array(thumbnail.bytes) };
  },
};

/** Every failure of a stream is an error with a remediation. */
export async function failureOf(promise: Promise<unknown>): Promise<StreamError> {
  const error = await promise.catch((error: unknown) => error);
  if (error instanceof StreamError) return error;
  throw new Error('It did not fail as a stream does', { cause: error });
}

/** The text of a media playlist; a line that is no tag is a segment's URL, and gets its EXTINF where it has none. */
export function mediaPlaylist(lines: string[], sequence = 0): string {
  const listed = lines.flatMap((line) => (line.startsWith('#') ? [line] : ['#EXTINF:2.0,', line]));
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-TARGETDURATION:2',
    `#EXT-X-MEDIA-SEQUENCE:${sequence}`,
    ...listed,
  ].join('\n');
}
