import type { z } from 'zod';
import { redactInputField } from './echo.ts';

/** Entry of the 422 body (I-2.9.1): Zod's code and words. */
export type ValidationDetail = {
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: unknown;
  ctx?: Record<string, unknown>;
};

export type Location = 'body' | 'query' | 'path' | 'header';

/** Request that does not fit its schema; the app responds with 422. */
export class ValidationError extends Error {
  readonly detail: ValidationDetail[];

  constructor(detail: ValidationDetail[]) {
    super('The request does not fit the schema');
    this.name = 'ValidationError';
    this.detail = detail;
  }
}

/** Limit that keeps the response small for a large invalid array. */
const maxDetails = 50;

/** Converts Zod's issues. `data` is the value that was validated. */
export function validationError(
  issues: readonly z.core.$ZodIssue[],
  data: unknown,
  location: Location,
): ValidationError {
  return new ValidationError(issues.slice(0, maxDetails).map((issue) => toDetail(issue, data, location)));
}

function toDetail(
  { path, code, message }: z.core.$ZodIssue,
  data: unknown,
  location: Location,
): ValidationDetail {
  const fields = path.filter((part) => typeof part !== 'symbol');
  const input = valueAt(data, fields);
  const loc = [location, ...fields];
  if (input === undefined) return { loc, type: 'missing', msg: 'Field required' };
  return { loc, type: code, msg: message, input: redactInputField(fields.at(-1), input) };
}

function valueAt(data: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, part) => (isRecord(value) ? value[part] : undefined), data);
}

function isRecord(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}
