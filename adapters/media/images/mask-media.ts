import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TransientError } from '../../../core/errors.ts';
import type { ScanningCapturer } from '../../../core/ports/frame-pictures.ts';
import type { Capture, Region } from '../../../core/records/capture.ts';
import { shareCall, type SharedCall } from '../../../core/share-call.ts';
import { decodingLimits, quietArguments } from '../ffmpeg/capture-arguments.ts';
import { withoutTurns, type InTurn } from '../ffmpeg/in-turn.ts';
import { spawnFfmpeg } from '../ffmpeg/spawn-ffmpeg.ts';
import { regionFilters } from './region-boxes.ts';

const timeoutMs = 10_000;
const maxBytes = 16 * 1024 * 1024;
const jpegInput = '-codec_whitelist mjpeg -protocol_whitelist pipe -f image2pipe -c:v mjpeg -i pipe:0';
const jpegOutput = '-frames:v 1 -c:v mjpeg -q:v 3 -pix_fmt yuvj420p -f image2pipe pipe:1';
const clipInput = '-codec_whitelist h264 -protocol_whitelist pipe -f mov -i pipe:0';
const clipOutput =
  '-c:v libx264 -preset ultrafast -crf 28 -threads 1 -x264-params cabac=1:deblock=0,0 -pix_fmt yuv420p';

export type MaskMediaDeps = {
  ffmpegPath: string;
  tempDir: string;
  inTurn?: InTurn;
};

/**
 * Draws regions into frame and clip: blanks excluded areas, outlines included ones. Throws `TransientError` if that fails: excluded
 * areas must not leave the service.
 */
type MaskMedia = (
  media: Pick<Capture, 'frame' | 'clip'>,
  regions: readonly Region[],
  signal: AbortSignal,
) => Promise<Pick<Capture, 'frame' | 'clip'>>;

/** Creates a function that draws regions with ffmpeg, in one process for each of frame and clip. */
export function createMaskMedia({ ffmpegPath, tempDir, inTurn = withoutTurns }: MaskMediaDeps): MaskMedia {
  return async ({ frame, clip }, regions, signal) => {
    const filters = regionFilters(regions).join(',');
    const [masked, maskedClip] = await Promise.all([
      draw(frame, [...jpegInput.split(' '), '-vf', filters, ...jpegOutput.split(' ')], signal),
      clip && drawClip(clip, filters, signal),
    ]);
    return { frame: masked, ...(maskedClip && { clip: maskedClip }) };
  };

  async function draw(input: Uint8Array, args: string[], signal: AbortSignal): Promise<Uint8Array> {
    const outcome = await run(input, args, signal);
    if (outcome.stdout.length === 0) throw failed(outcome.stderr);
    return outcome.stdout;
  }

  /** An MP4 with its index at the front needs a file. */
  async function drawClip(clip: Uint8Array, filters: string, signal: AbortSignal): Promise<Uint8Array> {
    const file = join(tempDir, `masked-${randomUUID()}.mp4`);
    await mkdir(tempDir, { recursive: true });
    try {
      const output = [...clipOutput.split(' '), '-movflags', '+faststart', '-f', 'mp4', '-y', file];
      await run(clip, [...clipInput.split(' '), '-vf', filters, ...output], signal);
      return await readFile(file);
    } finally {
      await rm(file, { force: true });
    }
  }

  async function run(input: Uint8Array, args: string[], signal: AbortSignal) {
    const drawing = {
      ffmpegPath,
      args: [...quietArguments, ...decodingLimits, ...args],
      input: [input],
      outputBytes: maxBytes,
      timeoutMs,
    };
    const outcome = await inTurn(() => spawnFfmpeg(drawing, signal), signal);
    if (outcome.ended !== 'exited' || outcome.exitCode !== 0) throw failed(outcome.stderr);
    return outcome;
  }
}

function failed(stderr: string): TransientError {
  return new TransientError('The regions of the watch could not be drawn', {
    cause: new Error(stderr.trim()),
  });
}

/**
 * Returns a capturer that draws the regions of a request. Other requests of the same stream share the capture below it. Requests with the same regions also
 * share the drawing.
 */
export function maskCaptures(streams: ScanningCapturer, maskMedia: MaskMedia): ScanningCapturer {
  const drawn = new WeakMap<Capture, Map<string, SharedCall<MaskedMedia>>>();
  return {
    probe: streams.probe,
    capture: async ({ regions, ...request }, signal) => {
      const capture = await streams.capture(request, signal);
      if (!regions || regions.length === 0) return capture;
      return { ...capture, ...(await draw(capture, regions).join(signal)) };
    },
    picture: async (scanned, { regions, ...request }, signal) => {
      const frame = await streams.picture(scanned, request, signal);
      if (!frame || !regions || regions.length === 0) return frame;
      return (await maskMedia({ frame }, regions, signal)).frame;
    },
  };

  function draw(capture: Capture, regions: readonly Region[]): SharedCall<MaskedMedia> {
    const key = JSON.stringify(regions);
    const ofCapture = drawn.get(capture) ?? new Map<string, SharedCall<MaskedMedia>>();
    drawn.set(capture, ofCapture);
    const known = ofCapture.get(key);
    if (known !== undefined) return known;
    const forget = () => void ofCapture.delete(key);
    const call = shareCall((signal) => maskMedia(capture, regions, signal), forget);
    call.result.catch(forget);
    ofCapture.set(key, call);
    return call;
  }
}

type MaskedMedia = Awaited<ReturnType<MaskMedia>>;
