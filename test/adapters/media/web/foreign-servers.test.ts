import { spawn, type ChildProcess } from 'node:child_process';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../../adapters/egress/guarded-http.ts';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createStreamCapturer } from '../../../../adapters/media/stream-capturer.ts';
import { freePort } from '../../../support/servers/free-port.ts';
import { ffmpegPath } from '../../../support/hls/recording.ts';
import { sharedFolder } from '../../../support/runner/run-folder.ts';

/** Servers of ffmpeg, which serve one client each. */

const never = new AbortController().signal;
const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
const http = createGuardedHttp(guard);
const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: sharedFolder() });
const capturer = createStreamCapturer({ guard, http, ffmpeg, now: () => new Date() });
let server: ChildProcess | undefined;
afterEach(() => void server?.kill('SIGKILL'));
afterAll(() => http.close());

const scene = '-re -f lavfi -i testsrc=size=160x90:rate=10';

async function serve(output: string): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}/cam`;
  const args = `-loglevel error ${scene} ${output} -listen 1 ${url}`.split(' ');
  server = spawn(ffmpegPath, args, { stdio: 'ignore' });
  return url;
}

/** Repeats an attempt until the server listens: it serves only the first client. */
async function untilServed<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Error && 'remediation' in error)) throw error;
      if (!String(error.remediation).includes('refuses connections')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

test.each([
  ['mjpeg', '-c:v mjpeg -f mpjpeg'],
  ['mpegts', '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 10 -f mpegts'],
])('a server of %s of ffmpeg gives a probe, a frame and a clip', async (platform, output) => {
  const probed = await serve(output);
  expect(await untilServed(() => capturer.probe(probed, never, 'ada'))).toMatchObject({ platform });
  server?.kill('SIGKILL');
  const request = { clipSeconds: 1, caller: 'ada', resolveAgain: false } as const;
  const shown = await serve(output);
  const { frame } = await untilServed(() =>
    capturer.capture({ ...request, url: shown, mode: 'frames' }, never),
  );
  expect(frame.length).toBeGreaterThan(500);
  server?.kill('SIGKILL');
  const filmed = await serve(output);
  const { clip } = await untilServed(() =>
    capturer.capture({ ...request, url: filmed, mode: 'clip' }, never),
  );
  expect(clip!.length).toBeGreaterThan(500);
});
