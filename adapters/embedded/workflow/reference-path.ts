import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** A reference path of the States Language: `$`, or `$.a.b`. No wildcard, filter, index, bracket or context object (`$$`). */
export type ReferencePath = { text: string; fields: readonly string[] };

const referencePathPattern = /^\$(\.[A-Za-z_]\w*)*$/;

export const referencePathSchema = z.string().transform((text, context): ReferencePath => {
  if (!referencePathPattern.test(text)) {
    context.addIssue({
      code: 'custom',
      message: `"${text}" is not a plain reference path such as $ or $.a.b; filters, indexes, "..", "$$" and intrinsic functions are not implemented`,
    });
    return z.NEVER;
  }
  return { text, fields: text.split('.').slice(1) };
});

/** The value at `path`. Throws where there is none. */
export function readPath(path: ReferencePath, document: Json): Json {
  let value = document;
  for (const field of path.fields) {
    const inner = isJsonObject(value) ? ownField(value, field) : undefined;
    if (inner === undefined) throw new PathNotFoundError(path);
    value = inner;
  }
  return value;
}

/** A copy of `document` with `value` at `path`, making the objects on the way. Throws where the way leads through something else. */
export function writePath(path: ReferencePath, document: Json, value: Json): Json {
  return writeFields(path, path.fields, document, value);
}

function writeFields(path: ReferencePath, fields: readonly string[], document: Json, value: Json): Json {
  const [field, ...rest] = fields;
  if (field === undefined) return value;
  if (!isJsonObject(document)) throw new ResultPathError(path);
  const inner = ownField(document, field);
  return { ...document, [field]: writeFields(path, rest, inner === undefined ? {} : inner, value) };
}

function ownField(object: JsonObject, field: string): Json | undefined {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

class PathNotFoundError extends Error {
  override readonly name = 'PathNotFoundError';

  constructor(path: ReferencePath) {
    super(`Nothing is at ${path.text} in the state's input`);
  }
}

/** What the States Language calls `States.ResultPathMatchFailure`. */
export class ResultPathError extends Error {
  override readonly name = 'ResultPathError';

  constructor(path: ReferencePath) {
    super(`${path.text} leads through something that is no object in the state's input`);
  }
}
