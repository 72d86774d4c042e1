import type { Context } from 'hono';
import type { ByteRange, MediaFile } from '../../core/ports/media-store.ts';

/**
 * Responds with a file, or with a range of it (RFC 9110, 13 and 14). Several ranges, what is no range of bytes, and
 * ranges of another content (`If-Range`) are answered by the whole, as is permitted. One beyond the end has 416. A
 * large file is read in blocks, each when the one before is sent.
 */
export async function fileResponse(
  { req }: Pick<Context, 'req'>,
  { bytes, tag, read }: MediaFile,
  headers: Record<string, string>,
): Promise<Response> {
  const shared = { ...headers, 'Accept-Ranges': 'bytes', ETag: `"${tag}"` };
  if (req.header('if-none-match') === shared.ETag)
    return new Response(null, { status: 304, headers: shared });
  const condition = req.header('if-range');
  const isSame = condition === undefined || condition === shared.ETag;
  const range = isSame ? parseRange(req.header('range'), bytes) : 'whole';
  if (range === 'unsatisfiable')
    return new Response(null, { status: 416, headers: { 'Content-Range': `bytes */${bytes}` } });
  const { first, last } = range === 'whole' ? { first: 0, last: bytes - 1 } : range;
  return new Response(await readInBlocks(read, { first, last }), {
    status: range === 'whole' ? 200 : 206,
    headers: {
      ...shared,
      'Content-Length': String(last + 1 - first),
      ...(range !== 'whole' && { 'Content-Range': `bytes ${first}-${last}/${bytes}` }),
    },
  });
}

const blockBytes = 1024 * 1024;

/** Reads the first block, so that an error of it is one of the response, and the others as the body is read. */
async function readInBlocks(read: MediaFile['read'], range: ByteRange): Promise<ReadableStream> {
  const blocks = readBlocks(read, range);
  const begin = await blocks.next();
  const all = async function* () {
    if (begin.value) yield begin.value;
    yield* blocks;
  };
  return ReadableStream.from(all());
}

async function* readBlocks(
  read: MediaFile['read'],
  { first, last }: ByteRange,
): AsyncGenerator<Uint8Array, undefined> {
  for (let at = first; at <= last;) {
    const block = await read({ first: at, last: Math.min(last, at + blockBytes - 1) });
    if (block.length === 0) throw new Error('The file is shorter than it was stored');
    yield block;
    at += block.length;
  }
}

function parseRange(header: string | undefined, length: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  const first = from === '' ? Math.max(0, length - Number(to)) : Number(from);
  const last = from === '' || to === '' ? length - 1 : Math.min(Number(to), length - 1);
  if (from !== '' && to !== '' && Number(to) < first) return 'whole';
  return first < length ? { first, last } : 'unsatisfiable';
}
