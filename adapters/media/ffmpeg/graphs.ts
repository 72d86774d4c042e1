import type { InputMode } from '../../../core/capture.ts';
import { thumbnail } from '../../../core/capture.ts';

/**
 * The command lines of captures, by input and mode. One run makes everything: JPEGs on fd 3, thumbnails on stdout, a clip in a file.
 * More pictures than one may come; the last JPEG and the last thumbnail are of the same moment, and are the ones that count.
 */

/** More width only costs model tokens. */
const frameWidth = 896;
const clipWidth = 672;
const clipFramesPerSecond = 8;

/** Decoding limits against hostile streams: 12.6 million pixels is above every camera of 4K and 12 MP; the allocation fits one such picture. */
const maxPixels = 4096 * 3072;
const maxAllocationBytes = 64 * 1024 * 1024;

/** What streams carry, so that ffmpeg's several hundred other decoders are out of reach. */
const decoders = 'h264,hevc,av1,libdav1d,libaom-av1,vp8,vp9,libvpx-vp9,mpeg2video,mpeg4,mjpeg';

export type GraphInput =
  { kind: 'pipe'; format: 'mpegts' | 'mov'; seconds?: number } | { kind: 'rtsp'; relayUrl: string };

export type Wanted = { mode: InputMode; clipSeconds: number };

/** `clipPath` is where the clip goes in modes clip and hybrid. */
export function captureArguments(
  input: GraphInput,
  wanted: Wanted,
  limits: { timeoutMs: number; clipBytes: number },
  clipPath: string,
): string[] {
  const source = inputArguments(input, limits);
  if (wanted.mode === 'frames') {
    return [...quiet, ...keyFramesOnly, ...source, '-filter_complex', frameGraph, ...pictureOutputs(input)];
  }
  const graph = clipGraph(input, clipSpan(input, wanted.clipSeconds));
  return [
    ...quiet,
    ...enoughForClip,
    ...source,
    '-filter_complex',
    graph,
    ...pictureOutputs(),
    ...clipOutput(limits.clipBytes, clipPath),
  ];
}

/** One picture is the largest allocation. */
export const quiet = words(
  `-hide_banner -nostdin -loglevel error -filter_complex_threads 1 -max_alloc ${maxAllocationBytes}`,
);

export const decodingLimits = words(`-max_pixels ${maxPixels} -threads 1`);

/** Without frame threads and without reordering, a key frame leaves the decoder at once and not two groups of pictures later. */
const keyFramesOnly = words('-skip_frame nokey -flags low_delay');

/** Leaves out frames that no other refers to, often half of a stream with B-frames: the rest suffices for 8 a second, for a quarter less work. */
const enoughForClip = words('-skip_frame noref');

/**
 * Of a finite input every picture, of which the last one counts. Of an endless one the first: a limit on the outputs ends them with it,
 * where a trim in the graph would wait for the next key frame to know that it is done (a group of pictures, up to 10 s).
 */
function pictureOutputs(input?: GraphInput): string[] {
  const count = input?.kind === 'rtsp' ? '-frames:v 1' : '';
  return words(
    `-map [frame] -fps_mode passthrough ${count} -c:v mjpeg -q:v 3 -f image2pipe pipe:3 ` +
      `-map [thumbnail] -fps_mode passthrough ${count} -c:v rawvideo -f rawvideo pipe:1`,
  );
}

/** Re-encoding costs 140 ms more than a stream copy and makes a clip of a tenth of its size. */
function clipOutput(clipBytes: number, clipPath: string): string[] {
  const encoding = words('-map [clip] -c:v libx264 -preset veryfast -crf 28 -threads 1');
  return [...encoding, ...words(`-fs ${clipBytes} -movflags +faststart -f mp4 -y`), clipPath];
}

function inputArguments(input: GraphInput, limits: { timeoutMs: number }): string[] {
  // Joining before the parameter sets counts as decoding errors, which must not end the run.
  const decoding = [
    ...decodingLimits,
    ...words(`-codec_whitelist ${decoders} -max_error_rate 1 -fpsprobesize 0`),
  ];
  if (input.kind === 'pipe') {
    const probing = words('-protocol_whitelist pipe -probesize 2M -analyzeduration 1000000');
    return [...decoding, ...probing, '-f', input.format, '-i', 'pipe:0'];
  }
  const transport = words('-protocol_whitelist tcp -rtsp_transport tcp -allowed_media_types video');
  // The default probe waits for 5 s of a camera's picture.
  const probing = words(`-probesize 32k -analyzeduration 1000000 -timeout ${limits.timeoutMs * 1000}`);
  return [...decoding, ...transport, ...probing, '-f', 'rtsp', '-i', input.relayUrl];
}

function words(line: string): string[] {
  return line.split(' ').filter((word) => word !== '');
}

type Span = { startSeconds: number; lengthSeconds: number };

/** Segments are longer than the clip: it is taken from their end, where the stream is fresh. */
function clipSpan(input: GraphInput, clipSeconds: number): Span {
  const availableSeconds = input.kind === 'pipe' ? (input.seconds ?? 0) : 0;
  // Not known, or a playlist that does not say.
  if (availableSeconds === 0) return { startSeconds: 0, lengthSeconds: clipSeconds };
  return {
    startSeconds: Math.max(0, availableSeconds - clipSeconds),
    lengthSeconds: Math.min(availableSeconds, clipSeconds),
  };
}

/**
 * The evidence picture is the clip's last frame, its freshest. How long the input really is shows only at its end, so
 * a picture is made every second and for each of the last frames, rather than for all of them.
 *
 * Segments play from 0, whether or not they begin with a key frame. RTSP is joined in between, and its clip counts from the first
 * key frame. The trim is in the graph: `-t` with several outputs hangs on endless input, and on RTSP counts from before that key frame.
 */
function clipGraph(input: GraphInput, { startSeconds, lengthSeconds }: Span): string {
  const tailSeconds = startSeconds + lengthSeconds - 4.5 / clipFramesPerSecond;
  const picked = `select=isnan(prev_selected_t)+gte(t-prev_selected_t\\,1)+gte(t\\,${tailSeconds})`;
  const fromKeyFrame = input.kind === 'rtsp' ? 'setpts=PTS-STARTPTS,' : '';
  return [
    `[0:v:0]${fromKeyFrame}trim=start=${startSeconds}:duration=${lengthSeconds},fps=${clipFramesPerSecond},split=2[film][stills]`,
    `[film]setpts=PTS-STARTPTS,${atMostWide(clipWidth)},format=yuv420p[clip]`,
    `[stills]${picked},${pictureBranches}`,
  ].join(';');
}

const pictureBranches =
  `split=2[large][small];[large]${atMostWide(frameWidth)},format=yuvj420p[frame];` +
  `[small]scale=${thumbnail.width}:${thumbnail.height}:flags=area,format=yuv420p[thumbnail]`;

const frameGraph = `[0:v:0]${pictureBranches}`;

/** Never upscaled; even sizes, which 4:2:0 needs. */
function atMostWide(widthPixels: number): string {
  return `scale=trunc(min(${widthPixels}\\,iw)/2)*2:-2`;
}
