import type { z } from 'zod';
import type { ErrorCode } from '../../core/errors.ts';
import type { Scope } from '../../core/key.ts';

/** One operation of the API, described once: the OpenAPI document and the MCP tools are both made from it. */
export type Operation = {
  /** Its operationId, and the name of its MCP tool. */
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** Below the base URL, parameters in braces. */
  path: string;
  tag: Tag;
  title: string;
  description: string;
  /** What a key needs; left out where the operation decides itself. */
  scope?: Scope;
  effect: Effect;
  parameters?: ObjectSchema;
  query?: ObjectSchema;
  /** Headers that callers may send, by their wire names. */
  headers?: ObjectSchema;
  /** Headers that callers must send, with the one value that they have. */
  fixedHeaders?: Record<string, string>;
  body?: ObjectSchema;
  answer: Answer;
  /** What can go wrong besides a missing key, a request that fits no schema, and a fault of the service. */
  errors: ErrorCode[];
  examples: Examples;
};

export type Tag = 'looks' | 'jobs' | 'webhooks' | 'access' | 'operations';

/** `looks` and `starts` reach other machines; `removes` takes something away. */
export type Effect = 'reads' | 'looks' | 'starts' | 'changes' | 'removes';

export type Answer =
  | {
      kind: 'json';
      description: string;
      schema: ObjectSchema;
      asEvents?: StreamedEvents;
      /** The field that holds a picture as base64; a tool answers it as an image. */
      picture?: 'frame_b64';
    }
  | { kind: 'jpeg'; description: string };

/** What the same operation answers to `Accept: text/event-stream`. */
export type StreamedEvents = {
  description: string;
  example: string;
  /** What 204 means, where there may be nothing left to stream. */
  ends?: string;
};

/** Zod's own default leaves the fields `any`. */
export type ObjectSchema = z.ZodObject<Record<string, z.ZodType>>;

/** Values by a name that says what they show. */
export type Examples = { parameters?: Record<string, string | number>; body?: Named; answer?: Named };
export type Named = Record<string, unknown>;
