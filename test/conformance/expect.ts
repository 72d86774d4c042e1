import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Answer } from './api.ts';
import { errorEnvelope, validationError } from './shapes.ts';

export { assert };

/** The value in the shape; throws what is wrong with it and where. */
export function shaped<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Error(`${what} has another shape:\n${z.prettifyError(result.error)}\n${excerpt(value)}`);
}

/** An answer with 200 and a body in the shape. */
export function ok<Schema extends z.ZodType>(answer: Answer, schema: Schema, what: string): z.infer<Schema> {
  assert.equal(answer.status, 200, `${what}: ${answer.status} ${excerpt(answer.text)}`);
  return shaped(schema, answer.body, what);
}

export type ExpectedError = { status: number; code?: string; message?: string };

/** An answer with the error envelope; code and message only where they are given. */
export function refused(answer: Answer, expected: ExpectedError, what: string): void {
  assert.equal(answer.status, expected.status, `${what}: ${answer.status} ${excerpt(answer.text)}`);
  const { error } = shaped(errorEnvelope, answer.body, what);
  if (expected.code !== undefined) assert.equal(error.code, expected.code, what);
  if (expected.message !== undefined) assert.equal(error.message, expected.message, what);
}

/** A 422 of which an entry names the field. */
export function invalid(answer: Answer, field: string, what: string) {
  assert.equal(answer.status, 422, `${what}: ${answer.status} ${excerpt(answer.text)}`);
  const { detail } = shaped(validationError, answer.body, what);
  const entry = detail.find(({ loc }) => loc.includes(field));
  assert.ok(entry, `${what}: no entry names ${field}: ${excerpt(detail)}`);
  return entry;
}

/** Asks again until `found` finds something; throws the last state after `withinSeconds`. */
export async function eventually<State, Found>(
  what: string,
  withinSeconds: number,
  ask: () => Promise<State>,
  found: (state: State) => Found | undefined | false,
): Promise<Found> {
  const deadline = Date.now() + withinSeconds * 1000;
  for (;;) {
    const state = await ask();
    const result = found(state);
    if (result !== undefined && result !== false) return result;
    if (Date.now() > deadline)
      throw new Error(`Not within ${withinSeconds} s: ${what}; last: ${excerpt(state)}`);
    await sleep(300);
  }
}

export function excerpt(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (text ?? 'undefined').replaceAll(/"[A-Za-z0-9+/=]{200,}"/g, '"(base64)"').slice(0, 600);
}
