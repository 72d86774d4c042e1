import { execFileSync } from 'node:child_process';
import { h264Units, h265Units } from '../../adapters/media/h264/entry-point.ts';
import { listUnits } from '../../adapters/media/mpeg-ts/unit-begin.ts';
import { writeTransportStream } from '../../adapters/media/mpeg-ts/write-transport-stream.ts';
import { ffmpegPath } from './hls/recording.ts';

const encoders = {
  H264: '-c:v libx264 -tune zerolatency -x264-params slices=4:sliced-threads=0:keyint=10:scenecut=0 -bsf:v dump_extra -f h264',
  H265: '-c:v libx265 -tune zerolatency -x265-params log-level=none:repeat-headers=1:slices=4:keyint=10:scenecut=0 -f hevc',
};
type Codec = keyof typeof encoders;

/**
 * Returns the units of each of 20 pictures. Each has four slices and refers to the one before, but the first and the
 * eleventh, which are key frames.
 */
export function encodePictures(codec: Codec): Buffer[][] {
  const input = '-loglevel error -f lavfi -i testsrc2=size=640x512:rate=10 -t 2 -preset ultrafast';
  const bytes = execFileSync(ffmpegPath, [...input.split(' '), ...encoders[codec].split(' '), 'pipe:1'], {
    maxBuffer: 1e8,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const rules = codec === 'H264' ? h264Units : h265Units;
  const pictures: Buffer[][] = [[]];
  let hasSlice = false;
  const emptyHead = Buffer.alloc(9);
  for (const unit of listUnits([emptyHead, bytes])) {
    const isSlice = rules.isSlice(rules.readType(unit[0]!));
    if (hasSlice && (!isSlice || unit[rules.headBytes]! >= 0x80)) pictures.push([]);
    hasSlice = isSlice;
    pictures.at(-1)!.push(Buffer.from(unit));
  }
  return pictures;
}

/** Writes pictures of `encodePictures`, or what is left of them, as MPEG-TS. */
export function writePictures(codec: Codec, pictures: readonly (readonly Buffer[])[]): Buffer {
  const units = pictures.map((picture, index) => ({
    bytes: Buffer.concat(picture.flatMap((unit) => [Buffer.of(0, 0, 0, 1), unit])),
    isKeyFrame: picture.length > 4,
    pts: 9_000 * (index + 1),
  }));
  return writeTransportStream(
    codec,
    units.filter(({ bytes }) => bytes.length > 0),
  );
}
