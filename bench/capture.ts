/**
 * How long a capture takes beside bare ffmpeg on the same HLS URL: `node bench/capture.ts [RUNS]`.
 * The stream is 720p30 at 3 Mb/s in segments of 2 s on loopback. It stands still, so that no encoder takes part in the race.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { createEgressGuard } from '../adapters/egress/guard.ts';
import { createGuardedHttp } from '../adapters/egress/guarded-http.ts';
import { locateFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { createFfmpegRunner } from '../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer } from '../adapters/media/hls/capture-hls.ts';
import type { InputMode } from '../core/capture.ts';

const runs = Number(process.argv[2] ?? 9);
const { path: ffmpegPath, version } = await locateFfmpeg({
  setting: process.env['WATCHPOST_FFMPEG'],
  env: process.env,
});
const directory = await mkdtemp(join(tmpdir(), 'bench-capture-'));
await ffmpeg(
  '-f lavfi -i testsrc2=size=1280x720:rate=30,noise=alls=8:allf=t -t 12 -c:v libx264 -preset veryfast -b:v 3M -g 60 -sc_threshold 0 -pix_fmt yuv420p',
  '-f hls -hls_time 2 -hls_list_size 0 -hls_flags omit_endlist',
  join(directory, 'live.m3u8'),
);
const server = createServer((request, response) => {
  readFile(join(directory, basename(request.url ?? ''))).then(
    (file) => response.end(file),
    () => response.writeHead(404).end(),
  );
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/live.m3u8`;
const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
const runner = createFfmpegRunner({ ffmpegPath, tempDir: directory });
const capturer = createHlsCapturer({ http, ffmpeg: runner, now: () => new Date() });

const frameFlags = '-frames:v 1 -vf scale=896:-2 -q:v 3 -update 1 -y';
const clipFlags =
  '-t 3 -an -vf fps=8,scale=672:-2 -c:v libx264 -preset veryfast -crf 28 -movflags +faststart -y';
const [framePath, clipPath] = [join(directory, 'frame.jpg'), join(directory, 'clip.mp4')];
// Output-side `-t` with two outputs would wait for a stream that stands still.
const hybridFlags = [
  '-filter_complex [0:v]trim=duration=3,split=2[a][b];[a]trim=end_frame=1,scale=896:-2[f];[b]fps=8,scale=672:-2[c]',
  `-map [f] -q:v 3 -update 1 -y ${framePath}`,
  '-map [c] -c:v libx264 -preset veryfast -crf 28 -movflags +faststart -y',
].join(' ');
const newest = (segments: number): string =>
  `-probesize 500k -analyzeduration 1000000 -live_start_index -${segments} -i ${url}`;

try {
  console.log(`ffmpeg ${version}, medians of ${runs} in ms`);
  console.table({
    frames: await race('frames', {
      plain: () => ffmpeg(`-i ${url} ${frameFlags}`, '', framePath),
      tuned: () => ffmpeg(`${newest(1)} ${frameFlags}`, '', framePath),
    }),
    clip: await race('clip', {
      plain: () => ffmpeg(`-i ${url} ${clipFlags}`, '', clipPath),
      tuned: () => ffmpeg(`${newest(2)} ${clipFlags}`, '', clipPath),
    }),
    hybrid: await race('hybrid', {
      plain: () => ffmpeg(`-i ${url} ${hybridFlags}`, '', clipPath),
      tuned: () => ffmpeg(`${newest(2)} ${hybridFlags}`, '', clipPath),
    }),
  });
} finally {
  server.close();
  server.closeAllConnections();
  await http.close();
  await rm(directory, { recursive: true, force: true });
}

/** In turn, so that whatever else the machine does slows all of them alike. */
async function race(mode: InputMode, bare: { plain: () => Promise<unknown>; tuned: () => Promise<unknown> }) {
  const times: { ours: number[]; plain: number[]; tuned: number[] } = { ours: [], plain: [], tuned: [] };
  for (let run = 0; run < runs; run += 1) {
    times.ours.push(
      await timed(() =>
        capturer.capture({ url, mode, clipSeconds: 3, resolveAgain: false }, AbortSignal.timeout(60_000)),
      ),
    );
    times.plain.push(await timed(bare.plain));
    times.tuned.push(await timed(bare.tuned));
  }
  const [ours, plain, tuned] = [median(times.ours), median(times.plain), median(times.tuned)];
  return {
    watchpost: Math.round(ours),
    'ffmpeg, default flags': Math.round(plain),
    'ffmpeg, best flags': Math.round(tuned),
    'default / watchpost': Number((plain / ours).toFixed(2)),
    'best / watchpost': Number((tuned / ours).toFixed(2)),
  };
}

function ffmpeg(input: string, output: string, path: string): Promise<unknown> {
  const args = `-nostdin -loglevel error ${input} ${output}`.trim().split(/ +/);
  return promisify(execFile)(ffmpegPath, [...args, path], { timeout: 30_000, killSignal: 'SIGKILL' });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
