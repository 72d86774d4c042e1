import type { Context } from 'hono';
import type { z } from 'zod';
import type { AuthEnv } from './bearer-auth.ts';
import type { MediaFile } from '../../core/ports/media-store.ts';
import { fileResponse } from './byte-range.ts';

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
