import { execFile, execFileSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ServiceProcess } from '../support/service-process.ts';
import { cycleSeconds } from './cases.ts';
import type { Stream } from './processes.ts';

/** Result of a stream, of Watchpost and ffmpeg. A text is `ok`, or what went wrong. */
export type Result = {
  server: string;
  stream: string;
  ffmpeg: string;
  validate: string;
  frame: string;
  clip: string;
  monitor: string;
  /** Age of the frame of `validate` at its response, in seconds. */
  ageSeconds: number | null;
  monitorSeconds: number;
  /** Load average of the machine at the end of the monitor. */
  loadAverage: number;
};

const run = promisify(execFile);

export async function watchStream(
  server: string,
  stream: Stream,
  service: ServiceProcess,
  monitorSeconds: number,
): Promise<Result> {
  const source = await stream.start();
  try {
    await awaitStream(stream.url);
    const { ffmpeg, validated } = await openBoth(stream, service);
    const { frame, ageSeconds } = checkFrame(validated, stream, source.startedAt);
    const clip = await checkClip(stream, service);
    const monitor = await checkMonitor(stream, service, monitorSeconds);
    const isWhole = [frame, clip, monitor].every((part) => part === 'ok');
    return {
      server,
      stream: stream.name,
      // Some servers list what can be decoded for their first seconds only.
      ffmpeg: isWhole || ffmpeg !== 'ok' ? ffmpeg : await openInFfmpeg(stream),
      validate: describe(validated.body),
      frame,
      clip,
      monitor,
      ageSeconds,
      monitorSeconds,
      loadAverage: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    };
  } finally {
    source.close();
  }
}

/** Servers list a stream seconds after its first key frame. */
async function awaitStream(url: string): Promise<void> {
  const address = url.replace(/\/\/[^/@]*@/, '//');
  const isListed = async () => {
    const response = await fetch(address, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    await response?.body?.cancel().catch(() => undefined);
    return response?.ok === true || response?.status === 401;
  };
  if (url.startsWith('http'))
    for (const startMs = Date.now(); Date.now() - startMs < 45_000 && !(await isListed());)
      await sleep(1_000);
  await sleep(6_000);
}

type Validated = { body: any; at: number };

/** Asks ffmpeg first: some servers start a stream for its first viewer. */
async function openBoth(stream: Stream, service: ServiceProcess) {
  const ffmpeg = await openInFfmpeg(stream);
  const { body } = await service.call('POST', '/streams/validate', {
    stream_url: stream.url,
    include_frame: true,
  });
  return { ffmpeg, validated: { body, at: Date.now() } };
}

async function openInFfmpeg(stream: Stream): Promise<string> {
  const { confirms } = stream;
  const url = stream.url.replace(/^rtsp\+http:/, 'rtsp:');
  const kind = stream.onlyUdp ? 'udp' : url === stream.url ? 'tcp' : 'http';
  const transport = url.startsWith('rtsp') ? ['-rtsp_transport', kind] : [];
  try {
    await run(
      'ffmpeg',
      [
        '-nostdin',
        '-loglevel',
        'error',
        ...transport,
        '-i',
        url,
        '-map',
        '0:v',
        '-frames:v',
        '1',
        '-f',
        'null',
        '-',
      ],
      { timeout: 40_000 },
    );
    if (confirms === undefined) return 'ok';
    const [field = ''] = confirms.split('=');
    const { stdout } = await run(
      'ffprobe',
      [
        '-v',
        'error',
        ...transport,
        '-select_streams',
        'v',
        '-show_entries',
        `stream=${field}`,
        '-of',
        'default=nw=1',
        url,
      ],
      { timeout: 40_000 },
    );
    return stdout.split('\n').includes(confirms) ? 'ok' : `not ${confirms}`;
  } catch {
    return 'fails';
  }
}

function describe(body: any): string {
  if (body.is_live === true || body.triggered !== undefined) return 'ok';
  return body.error_hint ?? body.error?.remediation ?? JSON.stringify(body).slice(0, 200);
}

/** Compares the color of the frame, and reads the time that its brightness shows. */
function checkFrame(
  { body, at }: Validated,
  { hasClock }: Stream,
  startedAt: number,
): Pick<Result, 'frame' | 'ageSeconds'> {
  if (typeof body.frame_b64 !== 'string') return { frame: 'no frame', ageSeconds: null };
  const input = Buffer.from(body.frame_b64, 'base64');
  const convert =
    '-loglevel error -i pipe:0 -vf scale=1:1:flags=area:out_range=tv,format=yuv444p -f rawvideo pipe:1';
  const [luma = 0, blue = 0, red = 0] = execFileSync('ffmpeg', convert.split(' '), {
    input,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (blue < 165 || red > 125) return { frame: `wrong picture (${luma}, ${blue}, ${red})`, ageSeconds: null };
  if (!hasClock) return { frame: 'ok', ageSeconds: null };
  const shown = (luma - 30) / 12;
  const age = ((at - startedAt) / 1000 - shown + cycleSeconds) % cycleSeconds;
  // The start of the encoder has a tolerance of a second.
  return { frame: 'ok', ageSeconds: age > cycleSeconds - 1 ? 0 : Math.round(age * 10) / 10 };
}

async function checkClip({ url, withoutClips }: Stream, service: ServiceProcess): Promise<string> {
  const { status, body } = await service.call('POST', '/check-once', {
    stream_url: url,
    condition: 'The screen is blue',
    input_mode: 'clip',
  });
  if (withoutClips === true) return refusal(status, body);
  if (status !== 200) return describe(body);
  return body.triggered === true ? 'ok' : `wrong verdict: ${body.explanation}`;
}

function refusal(status: number, body: any): string {
  const hasSentence = /input_mode "frames"/.test(body.error?.remediation ?? '');
  return status === 400 && hasSentence ? 'ok' : `wrong refusal: ${status} ${describe(body)}`;
}

async function checkMonitor(
  { url, disturb }: Stream,
  service: ServiceProcess,
  seconds: number,
): Promise<string> {
  const request = { stream_url: url, condition: 'The screen is red', interval_seconds: 5 };
  const created = await service.call('POST', '/live-monitor', request);
  if (created.status >= 300) return describe(created.body);
  if (disturb) await sleep(10_000).then(disturb);
  await sleep(seconds * 1000);
  const { body } = await service.call('GET', `/jobs/${created.body.job_id}`);
  await service.call('DELETE', `/jobs/${created.body.job_id}`);
  const {
    checks_performed: checks,
    frames_skipped: skipped,
    failed_captures: failed,
    stale_captures: stale,
  } = body.stats;
  if (disturb && body.status === 'running') return checkNewest(url, checks + skipped, service, failed);
  const isWatched = checks + skipped >= Math.floor(seconds / 10) && failed === 0 && stale === 0;
  return isWatched && body.status === 'running'
    ? 'ok'
    : `${body.status}: ${checks} checks, ${skipped} skipped, ${failed} failed, ${stale} stale`;
}

/** Judges the stream once more after a change. The monitor must have made checks after it, but may have missed some. */
async function checkNewest(
  url: string,
  judged: number,
  service: ServiceProcess,
  failed: number,
): Promise<string> {
  const request = { stream_url: url, condition: 'The screen is blue', input_mode: 'frames' };
  const { body } = await service.call('POST', '/check-once', request);
  if (body.triggered !== true) return `after the change: ${describe(body)}`;
  return judged >= minChecks ? 'ok' : `${judged} checks, ${failed} failed`;
}

/** Two checks before a change, and two after it. */
const minChecks = 4;
