import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Answer } from './api.ts';
import { errorEnvelope, validationError } from './shapes.ts';

export { assert };

/** Parses a value with the schema. Throws with path and fault. */
export function shaped<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Error(`${what} has an invalid shape:
${z.prettifyError(result.error)}\n${excerpt(value)}`);
}

/** Requires status 200 and parses the body with the schema. */
export function ok<Schema extends z.ZodType>(answer: Answer, schema: Schema, what: string): z.infer<Schema> {
  assert.equal(answer.status, 200, `${what}: ${answer.status} ${excerpt(answer.text)}`);
  return shaped(schema, answer.body, what);
}

/** Expected error; undefined members are not compared. */
export type ExpectedError = { status: number; code?: string; message?: string };

/** Requires the error envelope with the status, and with code and message if given. */
export function refused(answer: Answer, expected: ExpectedError, what: string): void {
  assert.equal(answer.status, expected.status, `${what}: ${answer.status} ${excerpt(answer.text)}`);
  const { error } = shaped(errorEnvelope, answer.body, what);
  if (expected.code !== undefined) assert.equal(error.code, expected.code, what);
  if (expected.message !== undefined) assert.equal(error.message, expected.message, what);
}

/** Requires a 422 with an entry for the field, and returns the entry. */
export function invalid(answer: Answer, field: string, what: string) {
  assert.equal(answer.status, 422, `${what}: ${answer.status} ${excerpt(answer.text)}`);
  const { detail } = shaped(validationError, answer.body, what);
  const entry = detail.find(({ loc }) => loc.includes(field));
  assert.ok(entry, `${what}: no entry names ${field}: ${excerpt(detail)}`);
  return entry;
}

/**
 * Polls until `found` returns a value, less often the longer it takes. Throws with the last state after
 * `withinSeconds`.
 */
export async function eventually<State, Found>(
  what: string,
  withinSeconds: number,
  poll: () => Promise<State>,
  found: (state: State) => Found | undefined | false,
): Promise<Found> {
  const began = Date.now();
  for (;;) {
    const state = await poll();
    const result = found(state);
    if (result !== undefined && result !== false) return result;
    const waitedMs = Date.now() - began;
    if (waitedMs > withinSeconds * 1000)
      throw new Error(`Timeout after ${withinSeconds} s: ${what}; last state: ${excerpt(state)}`);
    await sleep(Math.min(Math.max(300, waitedMs / 10), 2_000));
  }
}

/** Returns at most 600 characters of a value, with base64 text shortened. */
export function excerpt(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (text ?? 'undefined').replaceAll(/"[A-Za-z0-9+/=]{200,}"/g, '"(base64)"').slice(0, 600);
}
