import type { Context } from 'hono';
import type { z } from 'zod';
import type { AuthEnv } from './bearer-auth.ts';
import type { MediaFile, ByteRange } from '../../core/ports/media-store.ts';

/** Declaration of an endpoint's successful response. */
export type EndpointResponse =
  | {
      kind: 'json';
      description: string;
      schema: z.ZodType<object>;
      asEvents?: StreamedEvents;
      /** Field that holds an image as base64; an MCP tool returns it as an image block. */
      picture?: 'frame_b64';
      /** The response holds a secret, so no cache may store it. */
      secret?: true;
    }
  | { kind: 'jpeg'; description: string }
  | { kind: 'mp4'; description: string }
  | { kind: 'text'; description: string; contentType: string };

/** Response of the same endpoint to `Accept: text/event-stream`. */
export type StreamedEvents = {
  description: string;
  example: string;
  /** Schema of each event; default: events of a job. */
  schema?: z.ZodType;
  /** Meaning of 204, if the stream can be over. */
  ends?: string;
};

/** A declared response with the conversion of what its handler returns. */
export type ResponseWith<Body> = EndpointResponse & {
  toResponse: (context: Context<AuthEnv>, body: Body) => Response | Promise<Response>;
};

type JsonOptions = { description: string; picture?: 'frame_b64'; secret?: true };

/** Creates a JSON response: the handler returns what the schema accepts. */
export function jsonResponse<Schema extends z.ZodType<object, object>>(
  schema: Schema,
  options: JsonOptions,
): ResponseWith<z.input<Schema>> {
  return { kind: 'json', schema, ...options, toResponse: (context, body) => context.json(body) };
}

/**
 * Creates a response that is JSON or an event stream: the handler returns either, the stream as a `Response` of `sse/`.
 */
export function eventsResponse<Schema extends z.ZodType<object, object>>(
  schema: Schema,
  options: JsonOptions & { asEvents: StreamedEvents },
): ResponseWith<z.input<Schema> | Response> {
  return {
    kind: 'json',
    schema,
    ...options,
    toResponse: (context, body) => (body instanceof Response ? body : context.json(body)),
  };
}

/** Creates a JPEG response: the handler returns its bytes. */
export function jpegResponse({
  description,
  cacheControl,
}: {
  description: string;
  cacheControl: string;
}): ResponseWith<Uint8Array> {
  return {
    kind: 'jpeg',
    description,
    toResponse: (context, image) =>
      context.body(new Uint8Array(image), 200, {
        'Content-Type': 'image/jpeg',
        'Cache-Control': cacheControl,
        // A browser's cache must not serve one key's image to another key.
        Vary: 'Authorization',
      }),
  };
}

/** Creates a response of a film, of which a player requests ranges: the handler returns its file. */
export function mp4Response(options: { description: string }): ResponseWith<MediaFile> {
  return {
    kind: 'mp4',
    ...options,
    toResponse: (context, film) =>
      fileResponse(context, film, {
        'Content-Type': 'video/mp4',
        'Cache-Control': 'private, max-age=3600',
        Vary: 'Authorization',
      }),
  };
}

/** Creates a response of plain text that changes with each request: the handler returns it. */
export function textResponse(options: { description: string; contentType: string }): ResponseWith<string> {
  return {
    kind: 'text',
    ...options,
    toResponse: (context, text) =>
      context.body(text, 200, { 'Content-Type': options.contentType, 'Cache-Control': 'no-store' }),
  };
}

/** Response header that names ignored fields, because many bodies have no field for it. */
export const noticeHeader = 'Watchpost-Notice';

/** Replaces what a header cannot hold: it holds printable ASCII only. */
export function toHeaderText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}

/** Computes the latency of a call, in whole milliseconds; 0 if the clock was set back. */
export function latencyMs(began: Date, ended: Date): number {
  return Math.max(0, ended.getTime() - began.getTime());
}

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
  for (let offset = first; offset <= last;) {
    const block = await read({ first: offset, last: Math.min(last, offset + blockBytes - 1) });
    if (block.length === 0) throw new Error('The file is shorter than it was stored');
    yield block;
    offset += block.length;
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
