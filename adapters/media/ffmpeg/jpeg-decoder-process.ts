import { Readable } from 'node:stream';
import { decodingLimits, quietArguments } from './capture-arguments.ts';
import { scaledRgb, type ImageSize } from './decode-image.ts';
import { startFfmpeg } from './ffmpeg-process.ts';

/** Running ffmpeg that decodes one JPEG after another into packed RGB. Once a decode fails, the process is ended. */
export type JpegDecoderProcess = {
  isBusy(): boolean;
  /** Resolves to null if the process did not return the picture of this JPEG in time. The process is ended then. */
  decode(jpeg: Uint8Array, timeoutMs: number): Promise<Uint8Array | null>;
  close(): void;
};

/**
 * JPEG of 16 × 16 pixels, of our own. It follows each JPEG and pushes its picture out of ffmpeg, which holds one back.
 */
const mark = Buffer.from(
  '/9j/4AAQSkZJRgABAgAAAQABAAD//gAQTGF2YzU5LjM3LjEwMAD/2wBDAAgUFBcUFxsbGxsbGyAeICEhISAgICAhISEkJCQqKiokJCQhISQkKCgqKi4vLisrKisvLzIyMjw8OTlGRkhWVmf/xAGiAAABBQEBAQEBAQAAAAAAAAAAAQIDBAUGBwgJCgsBAAMBAQEBAQEBAQEAAAAAAAABAgMEBQYHCAkKCxAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6EQACAQIEBAMEBwUEBAABAncAAQIDEQQFITEGEkFRB2FxEyIygQgUQpGhscEJIzNS8BVictEKFiQ04SXxFxgZGiYnKCkqNTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqCg4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2dri4+Tl5ufo6ery8/T19vf4+fr/wAARCAAQABADASIAAhEAAxEA/9oADAMBAAIRAxEAPwDsa8loorow2G+r83vc3Nbpba/m+5xVavtbaWtfrff5H//Z',
  'base64',
);
/** Time without a picture after which one more mark is written, in milliseconds. */
const nudgeMs = 150;

/** Encloses a JPEG in a part of a multipart stream, which states its length: a parser that searches for the end of a JPEG misses some. */
function toPart(jpeg: Uint8Array): Buffer {
  const head = `--next\r\nContent-type: image/jpeg\r\nContent-length: ${jpeg.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), jpeg, Buffer.from('\r\n')]);
}

/** Returns true for a JPEG as ffmpeg encodes it: one image, and nothing before, inside or after it. */
export function isPlainJpeg(jpeg: Uint8Array): boolean {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  return (
    bytes.length > 4 &&
    bytes.readUInt16BE(0) === 0xffd8 &&
    bytes.indexOf('ffd8', 1, 'hex') < 0 &&
    bytes.indexOf('ffd9', 0, 'hex') === bytes.length - 2
  );
}

/** Starts a decoder that scales to one size. A damaged JPEG ends the process (`-xerror`). */
export function startJpegDecoder(ffmpegPath: string, size: ImageSize): JpegDecoderProcess {
  const { child, closed, awaited } = startFfmpeg(ffmpegPath, jpegDecoderArguments(size));
  const pictureBytes = size.width * size.height * 3;
  let chunks: Buffer[] = [];
  let bytes = 0;
  let markPicture: Buffer | undefined;
  let wanted: ((picture: Buffer | null) => void) | undefined;
  let hasEnded = false;

  closed.then(end, end);
  child.stdin?.on('error', end);
  child.stdio[2]?.on('data', () => undefined);
  if (child.stdio[1] instanceof Readable)
    child.stdio[1].on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      while (bytes >= pictureBytes) takePicture();
    });
  awaited(false);

  return { isBusy: () => wanted !== undefined, decode, close: end };

  async function decode(jpeg: Uint8Array, timeoutMs: number): Promise<Uint8Array | null> {
    if (hasEnded) return null;
    awaited(true);
    const { promise, resolve } = Promise.withResolvers<Buffer | null>();
    const timer = setTimeout(() => resolve(null), timeoutMs);
    const nudge = setInterval(() => child.stdin?.write(toPart(mark)), nudgeMs);
    wanted = resolve;
    const before = markPicture === undefined ? [toPart(mark)] : [];
    child.stdin?.write(Buffer.concat([...before, toPart(jpeg), toPart(mark)]));
    const picture = await promise;
    clearTimeout(timer);
    clearInterval(nudge);
    wanted = undefined;
    if (picture === null) end();
    else awaited(false);
    return picture;
  }

  /** The first picture is the mark, whose later pictures are left out. */
  function takePicture(): void {
    const all = Buffer.concat(chunks);
    const picture = all.subarray(0, pictureBytes);
    chunks = [all.subarray(pictureBytes)];
    bytes -= pictureBytes;
    if (markPicture === undefined) markPicture = Buffer.from(picture);
    else if (!picture.equals(markPicture)) wanted?.(picture);
  }

  function end(): void {
    hasEnded = true;
    child.kill('SIGKILL');
    wanted?.(null);
  }
}

function jpegDecoderArguments(size: ImageSize): string[] {
  // Pictures have no common clock, and ffmpeg accepts only growing times.
  const filter = `settb=AVTB,setpts=RTCTIME,${scaledRgb(size)}`;
  return [
    ...quietArguments,
    ...'-loglevel fatal -xerror -err_detect explode'.split(' '),
    ...decodingLimits,
    ...'-codec_whitelist mjpeg -protocol_whitelist pipe -fpsprobesize 0 -probesize 32 -analyzeduration 0'.split(
      ' ',
    ),
    ...`-f mpjpeg -c:v mjpeg -i pipe:0 -map 0:v:0 -vf ${filter} -fps_mode passthrough`.split(' '),
    ...'-enc_time_base 1:1000000 -c:v rawvideo -flush_packets 1 -f rawvideo pipe:1'.split(' '),
  ];
}
