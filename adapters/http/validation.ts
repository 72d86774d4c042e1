import type { z } from 'zod';
import { notUnicode } from '../../core/requests/text.ts';
import { redactInput, redactInputField } from './echo.ts';

/** Entry of the 422 body (I-2.9.1), worded like FastAPI with Pydantic 2. */
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

/** Converts Zod's issues to Pydantic's words, one per field. `data` is the parsed value. */
export function validationError(
  issues: readonly z.core.$ZodIssue[],
  data: unknown,
  location: Location,
): ValidationError {
  const details = issues.slice(0, maxDetails).map((issue) => toDetail(issue, data, location));
  return new ValidationError(onePerField(details));
}

/** Keeps one detail per field. An unsafe integer has two issues; the limit of the field is the useful one. */
function onePerField(details: ValidationDetail[]): ValidationDetail[] {
  return [...new Map(details.map((detail) => [JSON.stringify(detail.loc), detail])).values()];
}

function toDetail(issue: z.core.$ZodIssue, data: unknown, location: Location): ValidationDetail {
  const path = issue.path.filter((part) => typeof part !== 'symbol');
  const input = valueAt(data, path);
  const loc = [location, ...path];
  if (input === undefined) return { loc, type: 'missing', msg: 'Field required', input: redactInput(data) };
  return { loc, ...inWords(issue, input), input: redactInputField(path.at(-1), input) };
}

type Words = Pick<ValidationDetail, 'type' | 'msg' | 'ctx'>;

function inWords(issue: z.core.$ZodIssue, input: unknown): Words {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.expected, input);
    case 'too_small':
      return issue.origin === 'string' ? tooShort(Number(issue.minimum)) : tooLow(Number(issue.minimum));
    case 'too_big':
      return issue.origin === 'string' ? tooLong(Number(issue.maximum)) : tooHigh(Number(issue.maximum));
    case 'invalid_value':
      return describeAllowedValues(issue.values.map(String));
    case 'invalid_format':
      return formatWords(issue.format, String(input)) ?? valueError(issue.message);
    case 'custom':
      return issue.params?.['type'] === notUnicode ? notUnicodeWords : valueError(issue.message);
    default:
      return valueError(issue.message);
  }
}

function wrongType(expected: string, input: unknown): Words {
  if (expected === 'string') return { type: 'string_type', msg: 'Input should be a valid string' };
  if (expected === 'boolean') {
    return typeof input === 'string' || Number.isInteger(input)
      ? { type: 'bool_parsing', msg: 'Input should be a valid boolean, unable to interpret input' }
      : { type: 'bool_type', msg: 'Input should be a valid boolean' };
  }
  if (expected === 'object') return notAnObject;
  if (expected === 'array') return { type: 'list_type', msg: 'Input should be a valid list' };
  if (typeof input === 'string') {
    return {
      type: 'int_parsing',
      msg: 'Input should be a valid integer, unable to parse string as an integer',
    };
  }
  if (typeof input === 'number') {
    if (!Number.isFinite(input)) return { type: 'finite_number', msg: 'Input should be a finite number' };
    return {
      type: 'int_from_float',
      msg: 'Input should be a valid integer, got a number with a fractional part',
    };
  }
  return { type: 'int_type', msg: 'Input should be a valid integer' };
}

const notAnObject: Words = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
};

const notUnicodeWords: Words = {
  type: notUnicode,
  msg: 'Input should be a valid string, unable to parse raw data as a unicode string',
};

function valueError(reason: string): Words {
  return { type: 'value_error', msg: `Value error, ${reason}` };
}

function tooShort(minimum: number): Words {
  return {
    type: 'string_too_short',
    msg: `String should have at least ${characters(minimum)}`,
    ctx: { min_length: minimum },
  };
}

function tooLong(maximum: number): Words {
  return {
    type: 'string_too_long',
    msg: `String should have at most ${characters(maximum)}`,
    ctx: { max_length: maximum },
  };
}

function tooLow(minimum: number): Words {
  return {
    type: 'greater_than_equal',
    msg: `Input should be greater than or equal to ${minimum}`,
    ctx: { ge: minimum },
  };
}

function tooHigh(maximum: number): Words {
  return {
    type: 'less_than_equal',
    msg: `Input should be less than or equal to ${maximum}`,
    ctx: { le: maximum },
  };
}

function describeAllowedValues(values: string[]): Words {
  const quoted = values.map((value) => `'${value}'`);
  const expected = [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter(Boolean).join(' or ');
  return { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } };
}

const notInstant: Words = {
  type: 'datetime_from_date_parsing',
  msg: 'Input should be a valid datetime with a time zone, such as 2026-03-01T12:00:00Z',
};

const notDate: Words = {
  type: 'date_parsing',
  msg: 'Input should be a valid date in the format YYYY-MM-DD',
};

function formatWords(format: string, input: string): Words | undefined {
  if (format === 'datetime') return notInstant;
  if (format === 'date') return notDate;
  return format === 'uuid' || format === 'guid' ? notUuid(input) : undefined;
}

function notUuid(input: string): Words {
  const error = uuidError(input);
  return { type: 'uuid_parsing', msg: `Input should be a valid UUID, ${error}`, ctx: { error } };
}

const groupLengths = [8, 4, 4, 4, 12];

/** Describes why a text is not a UUID, worded like Pydantic's parser (pydantic-core 2.50). */
function uuidError(text: string): string {
  const characters = Array.from(text);
  const stranger = characters.findIndex((character) => !/[0-9a-fA-F-]/.test(character));
  if (stranger >= 0) return `invalid character: found \`${characters[stranger]}\` at ${stranger}`;
  const groups = text.split('-');
  if (groups.length === 1) return `invalid length: found ${text.length}`;
  if (groups.length !== groupLengths.length) return `invalid group count: expected 5, found ${groups.length}`;
  const wrong = groups.findIndex((group, index) => group.length !== groupLengths[index]);
  return `invalid group length in group ${wrong}: expected ${groupLengths[wrong]}, found ${groups[wrong]?.length}`;
}

function characters(count: number): string {
  return `${count} character${count === 1 ? '' : 's'}`;
}

function valueAt(data: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, part) => (isRecord(value) ? value[part] : undefined), data);
}

function isRecord(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}
