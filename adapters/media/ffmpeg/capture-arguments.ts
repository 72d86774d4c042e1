import { thumbnail, type InputMode } from '../../../core/records/capture.ts';

/**
 * ffmpeg arguments of captures, by input and mode. One run writes JPEGs to fd 3, thumbnails to stdout, a clip to a file
 * and the thumbnail of its first frame to fd 4. A run may write several frames; the last JPEG and the last thumbnail
 * are of the same frame and are used.
 */

/** Size in pixels. */
export type FrameSize = { width: number; height: number };

/** Maximum width of a frame, in pixels. A larger one only costs model tokens. */
const frameWidth = 896;
const clipWidth = 672;
/**
 * Frame rate of clips. Models sample one or two frames per second; 5 divides 25, 30 and 60, and still shows how
 * people move.
 */
export const clipFramesPerSecond = 5;

/**
 * Decoding limits against hostile streams. 12.6 million pixels exceed every 4K and 12 MP camera; the allocation
 * holds one such frame.
 */
export const maxPixels = 4096 * 3072;
const maxAllocationBytes = 64 * 1024 * 1024;

/** Ratio of the width of a pixel to its height. Beyond the limits it is an error of the encoder, or an attack. */
const pixelRatio = { min: 0.25, max: 4 };

/** Allowed decoders: the codecs of live streams. Several hundred others stay unreachable. */
const decoders = 'h264,hevc,av1,libdav1d,libaom-av1,vp8,vp9,libvpx-vp9,mpeg2video,mpeg4,mjpeg';

/** Input of ffmpeg: a byte stream on stdin, the URL of a loopback RTSP relay, or a span of a local file. */
export type GraphInput =
  | { kind: 'pipe'; format: 'mpegts' | 'mov' | 'mjpeg'; seconds?: number; endsAtSeconds?: number }
  | { kind: 'rtsp'; relayUrl: string }
  | { kind: 'file'; path: string; fromSeconds: number; seconds: number };

/** Requested capture. `clipSeconds` is ignored in mode `frames`. */
export type CaptureSpec = { mode: InputMode; clipSeconds: number };

/**
 * Clock of a group of pictures, in seconds: that of its bytes, or one on which its first frame is at `fromSeconds`.
 * Frames up to then are not returned.
 */
export type GroupClock = { fromSeconds: number; isRebased: boolean };

/**
 * Returns the ffmpeg arguments of a capture. `clipPath` is the output file of modes `clip` and `hybrid`. `isLenient`
 * tolerates damage, and logs it.
 */
export function captureArguments(
  input: GraphInput,
  wanted: CaptureSpec,
  limits: { timeoutMs: number; clipBytes: number; isLenient?: boolean },
  clipPath: string,
): string[] {
  const strictness = limits.isLenient ? words('-loglevel warning') : strictArguments;
  const source = [...(input.kind === 'pipe' ? strictness : []), ...inputArguments(input, limits)];
  if (wanted.mode === 'frames') {
    return [
      ...quietArguments,
      ...keyFramesOnly,
      ...source,
      '-filter_complex',
      frameGraph(input),
      ...pictureOutputs(input),
    ];
  }
  const span = clipSpan(input, wanted.clipSeconds);
  return [
    ...quietArguments,
    ...enoughForClip,
    ...(span.isExact ? ['-copyts'] : []),
    ...source,
    '-filter_complex',
    clipGraph(input, span),
    ...words('-map [begin] -fps_mode passthrough -c:v rawvideo -f rawvideo pipe:4'),
    ...pictureOutputs(),
    ...clipOutput(limits.clipBytes, clipPath),
  ];
}

/**
 * Returns the ffmpeg arguments for all key frames of a pipe. Without a time base of its own, an encoder loses frames
 * that are nearer than the frame rate which ffmpeg has guessed.
 */
export function keyFrameArguments(
  input: Extract<GraphInput, { kind: 'pipe' }>,
  limits: { timeoutMs: number },
): string[] {
  const outputs = pictureOutputs(input, '-enc_time_base 1:1000000');
  const source = [...strictArguments, ...inputArguments(input, limits)];
  return [...quietArguments, ...keyFramesOnly, ...source, '-filter_complex', frameGraph(input), ...outputs];
}

/** Maximum frames of a group: one of each second that a scan sees, and of a GOP before it. */
const maxSeconds = 130;

/**
 * Returns the ffmpeg arguments for a group of pictures: its first frame of each further second of the clock, with the
 * time. A damaged frame ends the run (`-xerror`), so that no part of another picture can fill its place. `isStrict`
 * finds more damage, and rejects the begin of open groups.
 */
export function secondsArguments(
  input: Extract<GraphInput, { kind: 'pipe' }>,
  { fromSeconds, isRebased }: GroupClock,
  limits: { timeoutMs: number; isStrict: boolean },
): string[] {
  // Before the first key frame, ffmpeg 5 decodes H.265 whose references are not there.
  const rebased = isRebased ? `select=st(0\\,ld(0)+key),setpts=PTS-STARTPTS+${fromSeconds}/TB,` : '';
  const before = `if(isnan(prev_selected_t)\\,${fromSeconds}\\,prev_selected_t)`;
  const selected = `select=gt(floor(t)\\,floor(${before}))`;
  const graph = `[0:v:0]${rebased}${selected},split=2[timed][pictures];[timed]scale=2:2[time];[pictures]${pictureBranches}`;
  const outputs = `-frames:v ${maxSeconds} -enc_time_base 1:1000000 -flush_packets 1`;
  return [
    ...quietArguments,
    ...enoughForClip,
    ...(isRebased ? [] : ['-copyts']),
    ...(limits.isStrict ? strictArguments : words('-xerror')),
    ...inputArguments(input, limits),
    '-filter_complex',
    graph,
    ...pictureOutputs(input, outputs),
    ...words(`-map [time] -fps_mode passthrough ${outputs} -c:v rawvideo -f mkvtimestamp_v2 pipe:4`),
  ];
}

/** Common arguments. The allocation limit holds one frame, the largest allocation. */
export const quietArguments = words(
  `-hide_banner -nostdin -loglevel error -filter_threads 1 -filter_complex_threads 1 -max_alloc ${maxAllocationBytes}`,
);

/**
 * A damaged frame, or one with a hole in front, ends the run: a decoder would fill it with gray or with parts of other
 * pictures.
 */
const strictArguments = words('-xerror -err_detect explode');

/** Limits of every decoder: pixels per frame, and one thread. */
export const decodingLimits = words(`-max_pixels ${maxPixels} -threads 1`);

/** Input of JPEGs, of a clip that was captured, and output of one JPEG. */
export const jpegInput = words(
  '-codec_whitelist mjpeg -protocol_whitelist pipe -f image2pipe -c:v mjpeg -i pipe:0',
);
export const clipInput = words('-codec_whitelist h264 -protocol_whitelist pipe -f mov -i pipe:0');
export const jpegOutput = words('-frames:v 1 -c:v mjpeg -q:v 3 -pix_fmt yuvj420p -f image2pipe pipe:1');

/**
 * Encoding of clips. The fastest preset takes half the work of `veryfast` and writes twice the bytes (140 kB per 3 s of
 * a noisy camera); CABAC and deblocking are its two cheapest improvements.
 */
export const clipEncoding = words(
  '-c:v libx264 -preset ultrafast -crf 28 -threads 1 -x264-params cabac=1:deblock=0,0',
);

/** Without frame threads and reordering, the decoder outputs a key frame immediately instead of two GOPs later. */
const keyFramesOnly = words('-skip_frame nokey -flags low_delay');

/**
 * Skips frames that no other frame refers to (often half of the frames of a stream with B-frames). The rest
 * suffices for 5 frames per second, with a quarter less work.
 */
const enoughForClip = words('-skip_frame noref');

/** Finite input: use the last frame. RTSP: `-frames:v 1`, since a trim filter waits up to 10 s for a key frame. */
function pictureOutputs(input?: GraphInput, timing = ''): string[] {
  const count = `${timing} ${input?.kind === 'rtsp' ? '-frames:v 1' : ''}`;
  return words(
    `-map [frame] -fps_mode passthrough ${count} -c:v mjpeg -q:v 3 -f image2pipe pipe:3 ` +
      `-map [thumbnail] -fps_mode passthrough ${count} -c:v rawvideo -f rawvideo pipe:1`,
  );
}

/** A stream copy would be ten times as large. */
function clipOutput(clipBytes: number, clipPath: string): string[] {
  const file = words(`-fs ${clipBytes} -movflags +faststart -f mp4 -y`);
  return ['-map', '[clip]', ...clipEncoding, ...file, clipPath];
}

const decoding = [
  ...decodingLimits,
  ...words(`-codec_whitelist ${decoders} -max_error_rate 1 -fpsprobesize 0`),
];

export function pipeArguments(
  format: Extract<GraphInput, { kind: 'pipe' }>['format'],
  framesPerSecond = clipFramesPerSecond,
): string[] {
  const probing = words('-protocol_whitelist pipe -probesize 2M -analyzeduration 1000000');
  // JPEGs have no times: there is one for each frame of a clip.
  const rate = format === 'mjpeg' ? words(`-framerate ${Number(framesPerSecond.toFixed(3))}`) : [];
  return [...decoding, ...probing, ...rate, '-f', format, '-i', 'pipe:0'];
}

function inputArguments(input: GraphInput, limits: { timeoutMs: number }): string[] {
  if (input.kind === 'pipe') return pipeArguments(input.format);
  if (input.kind === 'file')
    return [
      ...decodingLimits,
      '-ss',
      `${input.fromSeconds}`,
      '-t',
      `${input.seconds}`,
      ...fileInput(input.path),
    ];
  const transport = words('-protocol_whitelist tcp -rtsp_transport tcp -allowed_media_types video');
  // The default probe reads 5 s of a camera's stream.
  const probing = words(`-probesize 32k -analyzeduration 1000000 -timeout ${limits.timeoutMs * 1000}`);
  return [...decoding, ...transport, ...probing, '-f', 'rtsp', '-i', input.relayUrl];
}

/** Splits arguments without spaces of their own. */
export function words(line: string): string[] {
  return line.split(' ').filter((word) => word !== '');
}

/**
 * Time span of a clip in its input. `isExact`: measured on PTS with a known end, not from the durations in a
 * playlist.
 */
type Span = { startSeconds: number; lengthSeconds: number; isExact: boolean };

/**
 * Returns the span at the end of the input, because segments are longer than the clip and their end is the freshest
 * part.
 */
function clipSpan(input: GraphInput, clipSeconds: number): Span {
  if (input.kind === 'pipe' && input.endsAtSeconds !== undefined)
    return { startSeconds: input.endsAtSeconds - clipSeconds, lengthSeconds: clipSeconds, isExact: true };
  const availableSeconds = input.kind === 'rtsp' ? 0 : (input.seconds ?? 0);
  // The duration is unknown: no segments, or a playlist without durations.
  if (availableSeconds === 0) return { startSeconds: 0, lengthSeconds: clipSeconds, isExact: false };
  return {
    startSeconds: Math.max(0, availableSeconds - clipSeconds),
    lengthSeconds: Math.min(availableSeconds, clipSeconds),
    isExact: false,
  };
}

/**
 * Builds the filter graph of a clip. The evidence frame is the last frame of the clip, the freshest one, and shows only
 * at the end of the input. `newestFrame` holds the newest one so far; only the last one is scaled and encoded. Segments
 * play from 0, with or without a key frame at their start. An RTSP stream is joined midway; its clip starts at the
 * first key frame. The trim stays in the graph: `-t` with several outputs hangs on endless input, and for RTSP counts
 * from before that key frame. `round=down` keeps the last frame of each fifth of a second, so that the clip ends with
 * the newest frame.
 */
function clipGraph(input: GraphInput, { startSeconds, lengthSeconds, isExact }: Span): string {
  const fromKeyFrame = input.kind === 'rtsp' ? 'setpts=PTS-STARTPTS,' : '';
  const frames = `fps=${clipFramesPerSecond}${isExact ? `:round=down:eof_action=pass,trim=end=${startSeconds + lengthSeconds}` : ''}`;
  return [
    // The first frame shows whether all others are built on a hole.
    `[0:v:0]split=2[first][all]`,
    `[first]trim=end_frame=1,${thumbnailFilter}[begin]`,
    `[all]${fromKeyFrame}trim=start=${startSeconds}:duration=${lengthSeconds},${frames},split=2[film][stills]`,
    `[film]setpts=PTS-STARTPTS,${squareScale(clipWidth, ':flags=bilinear')},format=yuv420p[clip]`,
    `[stills]${newestFrame},${pictureBranches}`,
  ].join(';');
}

/**
 * Filter that passes the last frame of a day: of a clip, the newest one. It holds two frames. `reverse` would hold all
 * candidates, 16 frames of 4K.
 */
const newestFrame = 'fps=1/86400:round=down:eof_action=pass';

/** Filter of thumbnails. ffmpeg 7 and newer keep a full range of the input unless told otherwise. */
export const thumbnailFilter = `scale=${thumbnail.width}:${thumbnail.height}:flags=area:out_range=tv,format=yuv420p`;

/** Filter branches from one video to `[frame]` and `[thumbnail]`, as all captures have them. */
export const pictureBranches = branches(squareScale(frameWidth));

/** Decoders of AV1 and VP9, which come as MP4, return frames between key frames too. */
function frameGraph(input: GraphInput): string {
  const isMp4 = input.kind === 'pipe' && input.format === 'mov';
  return `[0:v:0]${isMp4 ? 'select=eq(pict_type\\,I)+key,' : ''}${pictureBranches}`;
}

/** Returns the graph of a frame with its own filters for the times and for the size of the JPEG. */
export function pictureGraph(scale: string, times: string): string {
  return `[0:v:0]${times}${branches(scale)}`;
}

function branches(scale: string): string {
  return `split=2[large][small];[large]${scale},format=yuvj420p[frame];[small]${thumbnailFilter}[thumbnail]`;
}

/** Returns the filter that scales down to the width, never up. Sizes are even, as 4:2:0 requires. */
export function scaleDown(widthPixels: number): string {
  return `scale=trunc(min(${widthPixels}\\,iw)/2)*2:-2`;
}

/** Returns the filters that scale to square pixels, at most to the width. */
function squareScale(widthPixels: number, options = ''): string {
  const squareWidth = `iw*if(between(sar\\,${pixelRatio.min}\\,${pixelRatio.max})\\,sar\\,1)`;
  const width = `max(2\\,trunc(min(${widthPixels}\\,${squareWidth})/2)*2)`;
  const height = `max(2\\,trunc(ow*ih/(${squareWidth})/2+0.5)*2)`;
  return `scale=${width}:${height}${options},setsar=1`;
}

/** Returns the size of the frame of a picture, as `squareScale` computes it. */
export function frameSize({ width, height, ratio }: FrameSize & { ratio: number }): FrameSize {
  const squareWidth = width * (ratio >= pixelRatio.min && ratio <= pixelRatio.max ? ratio : 1);
  const scaledWidth = Math.trunc(Math.min(frameWidth, squareWidth) / 2) * 2;
  return { width: scaledWidth, height: Math.trunc((scaledWidth * height) / squareWidth / 2 + 0.5) * 2 };
}

/** Returns the input arguments of a local file. A playlist may name local files only, with any extension. */
export function fileInput(path: string): string[] {
  const playlist = path.toLowerCase().endsWith('.m3u8') ? ['-allowed_extensions', 'ALL'] : [];
  return ['-protocol_whitelist', 'file,crypto,data', ...playlist, '-i', `file:${path}`];
}
