import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { InputMode } from '../../core/records/capture.ts';

/** Stream of a race. */
export type BareSource = { url: string; kind: 'hls' | 'rtsp'; segmentSeconds: number };

const clipSeconds = 3;

/** Runs bare ffmpeg once, with every flag that helps: what a developer would write without Watchpost. */
export async function bareFfmpeg(
  ffmpegPath: string,
  source: BareSource,
  mode: InputMode,
  files: { frame: string; clip: string },
): Promise<void> {
  const args = [...inputArguments(source, mode), ...outputArguments(mode, files)];
  await promisify(execFile)(ffmpegPath, ['-nostdin', '-loglevel', 'error', ...args], {
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
}

function inputArguments({ url, kind, segmentSeconds }: BareSource, mode: InputMode): string[] {
  const transport = kind === 'rtsp' ? '-rtsp_transport tcp' : '';
  // The best of a dozen combinations on these streams. `-skip_frame nokey` is not among them: with B-frames, ffmpeg
  // then waits for two more key frames.
  const decoding = mode === 'frames' ? '-threads 1 -flags low_delay' : '-skip_frame noref';
  const probing =
    kind === 'rtsp'
      ? '-probesize 32k -analyzeduration 1000000 -fpsprobesize 0'
      : '-probesize 150k -analyzeduration 100000 -fpsprobesize 0';
  const segments = mode === 'frames' ? 1 : Math.ceil(clipSeconds / segmentSeconds);
  const protocol =
    kind === 'rtsp' ? `${transport} -allowed_media_types video` : `-live_start_index -${segments}`;
  return words(`${decoding} ${probing} ${protocol} -i ${url}`);
}

function outputArguments(mode: InputMode, { frame, clip }: { frame: string; clip: string }): string[] {
  const jpeg = '-q:v 3 -update 1 -y';
  // The encoder settings of a capture. A slower preset would slow down bare ffmpeg.
  const film =
    '-an -c:v libx264 -preset ultrafast -crf 28 -x264-params cabac=1:deblock=0,0 -movflags +faststart -y';
  const trimmed = `setpts=PTS-STARTPTS,trim=duration=${clipSeconds}`;
  if (mode === 'frames') return [...words(`-frames:v 1 -vf scale=896:-2 ${jpeg}`), frame];
  // `-t` would count from before the first key frame, and with two outputs wait for a stale stream.
  if (mode === 'clip') return [...words(`-vf ${trimmed},fps=5,scale=672:-2 ${film}`), clip];
  const graph = `[0:v]${trimmed},split=2[a][b];[a]trim=end_frame=1,scale=896:-2[f];[b]fps=5,scale=672:-2[c]`;
  return [...words(`-filter_complex ${graph} -map [f] ${jpeg}`), frame, ...words(`-map [c] ${film}`), clip];
}

function words(line: string): string[] {
  return line.split(' ').filter((word) => word !== '');
}
