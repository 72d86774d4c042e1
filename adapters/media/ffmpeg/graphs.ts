import type { InputMode } from '../../../core/capture.ts';
import { thumbnail } from '../../../core/capture.ts';

/**
 * The command lines of captures, by input and mode. One run makes everything: JPEGs on fd 3, thumbnails on stdout, a clip in a file.
 * More pictures than one may come; the last JPEG and the last thumbnail are of the same moment, and are the ones that count.
 */

/** More width only costs model tokens. */
const frameWidth = 896;
const clipWidth = 672;
/** Models look at one or two a second; five divide the 25, 30 and 60 of streams, and still show how somebody moves. */
const clipFramesPerSecond = 5;

/** Decoding limits against hostile streams: 12.6 million pixels is above every camera of 4K and 12 MP; the allocation fits one such picture. */
const maxPixels = 4096 * 3072;
const maxAllocationBytes = 64 * 1024 * 1024;

/** What streams carry, so that ffmpeg's several hundred other decoders are out of reach. */
const decoders = 'h264,hevc,av1,libdav1d,libaom-av1,vp8,vp9,libvpx-vp9,mpeg2video,mpeg4,mjpeg';

export type GraphInput =
  | { kind: 'pipe'; format: 'mpegts' | 'mov'; seconds?: number; endsAtSeconds?: number }
  | { kind: 'rtsp'; relayUrl: string };

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
  const span = clipSpan(input, wanted.clipSeconds);
  return [
    ...quiet,
    ...enoughForClip,
    ...(span.isExact ? ['-copyts'] : []),
    ...source,
    '-filter_complex',
    clipGraph(input, span),
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

/** Leaves out frames that no other refers to, often half of a stream with B-frames: the rest suffices for 5 a second, for a quarter less work. */
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

/**
 * A stream copy would be of ten times the size. Of the presets the quickest, for half the work of veryfast and twice its bytes
 * (140 kB for 3 s with a camera's noise), with the two of x264's tools that cost least for what they give.
 */
function clipOutput(clipBytes: number, clipPath: string): string[] {
  const encoding = words('-map [clip] -c:v libx264 -preset ultrafast -crf 28 -threads 1');
  const tools = words('-x264-params cabac=1:deblock=0,0');
  return [...encoding, ...tools, ...words(`-fs ${clipBytes} -movflags +faststart -f mp4 -y`), clipPath];
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

/** `isExact`: by the input's own clock, whose end is known, and not from its beginning by what a playlist says. */
type Span = { startSeconds: number; lengthSeconds: number; isExact: boolean };

/** Segments are longer than the clip: it is taken from their end, where the stream is fresh. */
function clipSpan(input: GraphInput, clipSeconds: number): Span {
  if (input.kind === 'pipe' && input.endsAtSeconds !== undefined)
    return { startSeconds: input.endsAtSeconds - clipSeconds, lengthSeconds: clipSeconds, isExact: true };
  const availableSeconds = input.kind === 'pipe' ? (input.seconds ?? 0) : 0;
  // Not known, or a playlist that does not say.
  if (availableSeconds === 0) return { startSeconds: 0, lengthSeconds: clipSeconds, isExact: false };
  return {
    startSeconds: Math.max(0, availableSeconds - clipSeconds),
    lengthSeconds: Math.min(availableSeconds, clipSeconds),
    isExact: false,
  };
}

/**
 * The evidence picture is the clip's last frame, its freshest. Where the end is known, the last two are made and, if they cannot be decoded, the
 * first. Else how long the input really is shows only at its end: a picture is made every second and for each of the last frames, rather than for all.
 *
 * Segments play from 0, whether or not they begin with a key frame. RTSP is joined in between, and its clip counts from the first
 * key frame. The trim is in the graph: `-t` with several outputs hangs on endless input, and on RTSP counts from before that key frame.
 *
 * `round=down`: of each fifth of a second its last picture, so that the clip ends with the stream's newest.
 */
function clipGraph(input: GraphInput, { startSeconds, lengthSeconds, isExact }: Span): string {
  const tailFrames = isExact ? 2.5 : 3.5;
  const tailSeconds = startSeconds + lengthSeconds - tailFrames / clipFramesPerSecond;
  const between = isExact ? '' : '+gte(t-prev_selected_t\\,1)';
  const picked = `select=isnan(prev_selected_t)${between}+gte(t\\,${tailSeconds})`;
  const fromKeyFrame = input.kind === 'rtsp' ? 'setpts=PTS-STARTPTS,' : '';
  const frames = `fps=${clipFramesPerSecond}${isExact ? `:round=down:eof_action=pass,trim=end=${startSeconds + lengthSeconds}` : ''}`;
  return [
    `[0:v:0]${fromKeyFrame}trim=start=${startSeconds}:duration=${lengthSeconds},${frames},split=2[film][stills]`,
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
