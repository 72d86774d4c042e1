import type { ServerResponse } from 'node:http';
import { constants, createBrotliCompress, gzipSync } from 'node:zlib';

const gigabyte = 1024 ** 3;

/** A gigabyte of line breaks in a megabyte of gzip: one member again and again, which decoders take for one text. */
export function gzipBomb(): Buffer {
  const member = gzipSync(Buffer.alloc(16 * 1024 ** 2, '\n'));
  return Buffer.concat(Array<Buffer>(gigabyte / (16 * 1024 ** 2)).fill(member));
}

/** The same in some kilobytes of Brotli: the second of two blocks, which says «go on like this», again and again. */
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

/** Writes `piece` for ever, as fast as it is taken. */
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
