/** Structure of a stream: how ffmpeg encodes it. */
export type Case = {
  name: string;
  encoding: string;
  /** Property that ffprobe must confirm, as `key=value`. */
  confirms?: string;
  /** Protocols that carry it. Default: all. */
  only?: readonly ('rtsp' | 'rtmp' | 'ts')[];
  filter?: string;
  seconds?: number;
};

const x264 = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p';
const fast = `${x264} -tune zerolatency -g 20`;
const x265 = '-c:v libx265 -preset ultrafast -x265-params log-level=none:repeat-headers=1:keyint=20 -pix_fmt';

/** Brightness is 30 + 12 for each second since the start, modulo 16 s; the color is blue. */
export const scene = `nullsrc=size=320x180:rate=10,format=yuv420p,geq=lum='30+12*mod(T\\,16)':cb=200:cr=90`;
export const cycleSeconds = 16;

export const cases: readonly Case[] = [
  { name: 'H.264, key frame every second', encoding: `${x264} -tune zerolatency -g 10` },
  { name: 'H.264, key frame every 10 s', encoding: `${x264} -tune zerolatency -g 100` },
  { name: 'H.264, key frame every 20 s', encoding: `${x264} -tune zerolatency -g 200` },
  { name: 'H.264, B-frames', encoding: `${x264} -bf 3 -g 20`, confirms: 'has_b_frames=2' },
  { name: 'H.264, open groups', encoding: `${x264} -bf 2 -g 20 -x264-params open-gop=1` },
  { name: 'H.264, intra refresh', encoding: `${fast} -x264-params intra-refresh=1` },
  { name: 'H.264, 4:2:2', encoding: `${fast} -pix_fmt yuv422p`, confirms: 'pix_fmt=yuv422p' },
  { name: 'H.264, 10 bit', encoding: `${fast} -pix_fmt yuv420p10le`, confirms: 'pix_fmt=yuv420p10le' },
  { name: 'H.264, interlaced', encoding: `${fast} -flags +ildct+ilme`, filter: 'scale=320:192' },
  { name: 'H.264, pixels of 4:3', encoding: fast, filter: 'setsar=4/3', confirms: 'sample_aspect_ratio=4:3' },
  { name: 'H.264, timestamps that wrap', encoding: `${fast} -output_ts_offset 95430`, only: ['rtsp', 'ts'] },
  { name: 'H.265', encoding: `${x265} yuv420p`, only: ['rtsp', 'ts'] },
  {
    name: 'H.265, 10 bit',
    encoding: `${x265} yuv420p10le`,
    only: ['rtsp', 'ts'],
    confirms: 'pix_fmt=yuv420p10le',
  },
  { name: 'VP8', encoding: '-c:v libvpx -deadline realtime -cpu-used 8 -g 20 -b:v 500k', only: ['rtsp'] },
  {
    name: 'VP9',
    encoding: '-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 20 -strict experimental',
    only: ['rtsp'],
  },
  { name: 'MPEG-4', encoding: '-c:v mpeg4 -g 20', only: ['rtsp'] },
  {
    name: 'Motion JPEG',
    encoding: '-c:v mjpeg -pix_fmt yuvj420p -huffman default -force_duplicated_matrix 1',
    only: ['rtsp'],
  },
];

/** Returns the arguments of an ffmpeg that encodes a case in real time. */
export function encode({ encoding, filter }: Case, output: string): string[] {
  const input = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-re', '-f', 'lavfi', '-i'];
  const source = filter === undefined ? scene : `${scene},${filter}`;
  return [...input, source, ...`${encoding} -sc_threshold 0 ${output}`.split(' ')];
}
