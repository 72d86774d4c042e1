import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/**
 * Reference path of the States Language: `$` or `$.a.b`. Wildcards, filters, indexes, brackets and the context object (`$$`) are
 * not supported.
 */
export type ReferencePath = { text: string; fields: readonly string[] };

const referencePathPattern = /^\$(\.[A-Za-z_]\w*)*$/;

export const referencePathSchema = z.string().transform((text, context): ReferencePath => {
  if (!referencePathPattern.test(text)) {
    context.addIssue({
      code: 'custom',
      message: `"${text}" is not a plain reference path such as $ or $.a.b; filters, indexes, "..", "$$" and intrinsic functions are not supported`,
    });
    return z.NEVER;
  }
  return { text, fields: text.split('.').slice(1) };
});

/** Returns the value at `path`. Throws `PathNotFoundError` if the path finds no value. */
export function readPath(path: ReferencePath, document: Json): Json {
  let value = document;
  for (const field of path.fields) {
    const inner = isJsonObject(value) ? ownField(value, field) : undefined;
    if (inner === undefined) throw new PathNotFoundError(path);
    value = inner;
  }
  return value;
}

/**
 * Returns a copy of `document` with `value` at `path`; creates missing objects on the path. Throws `ResultPathError` if the path
 * crosses a value that is not an object.
 */
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

/** `States.ResultPathMatchFailure` of the States Language. */
export class ResultPathError extends Error {
  override readonly name = 'ResultPathError';

  constructor(path: ReferencePath) {
    super(`${path.text} crosses a value that is not an object in the state's input`);
  }
}
