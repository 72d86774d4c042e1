import type { ServerResponse } from 'node:http';
import { constants, createBrotliCompress, gzipSync } from 'node:zlib';

const gigabyte = 1024 ** 3;

/** A gigabyte of line breaks in a megabyte of gzip: one member again and again, which decoders take for one text. */
export function gzipBomb(): Buffer {
  const member = gzipSync(Buffer.alloc(16 * 1024 ** 2, '\n'));
  return Buffer.concat(Array<Buffer>(gigabyte / (16 * 1024 ** 2)).fill(member));
}

/** Returns the same bytes in a few kilobytes of Brotli: the second block repeats the one before it, and stands in the stream many times. */
export async function brotliBomb(): Promise<Buffer> {
  const block = 4 * 1024 ** 2;
  const encoder = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  const encoded: Buffer[] = [];
  encoder.on('data', (chunk: Buffer) => encoded.push(chunk));
  const flushed = async (): Promise<Buffer> => {
    encoder.write(Buffer.alloc(block, '\n'));
    await new Promise<void>((resolve) => encoder.flush(resolve));
    return Buffer.concat(encoded.splice(0));
  };
  const [first, , again] = [await flushed(), await flushed(), await flushed()];
  encoder.destroy();
  return Buffer.concat([first ?? Buffer.alloc(0), ...Array<Buffer>(gigabyte / block).fill(again)]);
}

/** Returns a handler that writes `piece` without end, at the speed of the reader. */
export function endless(piece: Buffer | string): (response: ServerResponse) => void {
  return (response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more).on('error', () => undefined);
    more();
  };
}

/** One byte in `everyMs`, before the head or in the body. */
export function dripping(part: 'head' | 'body', everyMs: number): (response: ServerResponse) => void {
  return (response) => {
    const { socket } = response;
    if (part === 'body') response.writeHead(200).flushHeaders();
    const drip = setInterval(() => {
      if (part === 'body') response.write('#');
      else socket?.write('H');
    }, everyMs);
    response.on('close', () => clearInterval(drip)).on('error', () => undefined);
  };
}
