import { beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { createWorld, type World } from '../../support/world.ts';

/** Request, and `type loc: msg` of each detail of its 422; none if the request fits its schema. */
type Row = [request: string, ...details: string[]];

const watch = '"stream_url": "https://example.com/live.m3u8", "condition": "a ship enters the lock"';

// oxfmt-ignore
const rows: Row[] = [
  ['POST /live-monitor {}', 'missing body.stream_url: Field required', 'missing body.condition: Field required'],
  ['POST /streams/validate {"stream_url": ""}', 'too_small body.stream_url: Too small: expected string to have >=1 characters'],
  ['POST /streams/validate {"stream_url": 7}', 'invalid_type body.stream_url: Invalid input: expected string, received number'],
  ['POST /streams/validate {"stream_url": null}', 'invalid_type body.stream_url: Invalid input: expected string, received null'],
  [`POST /check-once {"stream_url": "x", "condition": "${'😀'.repeat(1001)}"}`, 'too_big body.condition: Too big: expected string to have <=1000 characters'],
  [`POST /check-once {"stream_url": "x", "condition": "${'😀'.repeat(1000)}"}`],
  ['POST /check-once {"stream_url": "x", "condition": "\\ud83d"}', 'custom body.condition: Not Unicode'],
  ...['"maybe"', '1', '0', 'null', '[]', '"yes"'].map((value): Row =>
    [`POST /check-once {${watch}, "include_frame": ${value}}`, `invalid_type body.include_frame: Invalid input: expected boolean, received ${kind(value)}`]),
  [`POST /check-once {${watch}, "include_frame": "TRUE"}`],
  [`POST /check-once {${watch}, "input_mode": "video"}`, 'invalid_value body.input_mode: Invalid option: expected one of "frames"|"clip"|"hybrid"'],
  [`POST /check-once {${watch}, "clip_duration_seconds": "0"}`, 'too_small body.clip_duration_seconds: Too small: expected number to be >=1'],
  [`POST /check-once {${watch}, "clip_duration_seconds": 11}`, 'too_big body.clip_duration_seconds: Too big: expected number to be <=10'],
  [`POST /check-once {${watch}, "clip_duration_seconds": 2.5}`, 'invalid_type body.clip_duration_seconds: Invalid input: expected int, received number'],
  ...['"two"', '""', '"1_0"', '"0x10"', '"1e3"', '"1.5"', '"Infinity"', 'true', 'null', '{}'].map((value): Row =>
    [`POST /check-once {${watch}, "clip_duration_seconds": ${value}}`, `invalid_type body.clip_duration_seconds: Invalid input: expected number, received ${kind(value)}`]),
  ...['"3"', '" 3 "', '"+3"', '"3.0"', '3.0', '"03"'].map((value): Row => [`POST /check-once {${watch}, "clip_duration_seconds": ${value}}`]),
  [`POST /live-monitor {${watch}, "webhook_url": null, "max_triggers": null}`],
  ['POST /streams/validate ', 'missing body: Field required'],
  ['POST /streams/validate {"a":1,}', 'json_invalid body: Expected double-quoted property name in JSON at position 7 (line 1 column 8)'],
  ['POST /streams/validate {"stream_url": rtsp://viewer:hunter2@camera.test/}', "json_invalid body: Unexpected token 'r'"],
  ['POST /streams/validate nul', 'json_invalid body: Unexpected end of JSON input'],
  ['POST /streams/validate {} {}', 'json_invalid body: Unexpected non-whitespace character after JSON at position 3 (line 1 column 4)'],
  ...['[1]', '"text"', '1', 'null'].map((value): Row =>
    [`POST /streams/validate ${value}`, `invalid_type body: Invalid input: expected object, received ${kind(value)}`]),
  ['POST /streams/validate \ufeff{}', 'missing body.stream_url: Field required'],
  ['GET /jobs?limit=101', 'too_big query.limit: Too big: expected number to be <=100'],
  ['GET /jobs?limit=', 'invalid_type query.limit: Invalid input: expected number, received string'],
  // The last value counts.
  ['GET /jobs?limit=101&limit=2'],
  ['GET /jobs?limit=2&limit=101', 'too_big query.limit: Too big: expected number to be <=100'],
  ['GET /jobs?limit=+5'],
  ['GET /jobs?limit=%35'],
  ['GET /jobs?colour=green'],
  ['GET /jobs?__proto__=1'],
  ['GET /jobs?limit=0&status=x', 'invalid_value query.status: Invalid option: expected one of "pending"|"running"|"stopped"|"completed"|"failed"', 'too_small query.limit: Too small: expected number to be >=1'],
  ...['nonsense', '1111', '11111111-1111-1111-1111-11111111111g', '-----', '%F0%9F%98%80', '%00'].map((id): Row =>
    [`GET /jobs/${id}`, 'invalid_format path.job_id: Invalid UUID']),
  ['GET /jobs/11111111111111111111111111111111'],
  ['GET /usage?from=2026-02-30&to=yesterday', 'invalid_format query.from: Invalid ISO date', 'invalid_format query.to: Invalid ISO date'],
  // Parts of a request are validated from its path to its body.
  ['PATCH /watches/1111 {"name": 1}', 'invalid_format path.watch_id: Invalid UUID'],
  ['GET /jobs/1111/events?after=-1', 'invalid_format path.job_id: Invalid UUID'],
];

const notJson = 'invalid_type body: Not JSON';
const readAsJson = 'invalid_type body.stream_url: Invalid input: expected string, received number';

let world: World;
/** One of each test, from its first request on. */
let app: ReturnType<typeof createApp> | undefined;
let key: string;
beforeEach(async () => {
  world = createWorld();
  app = undefined;
  const minted = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  key = minted.text;
});

test.each(rows)('the request %.90s is refused with exactly its details, or accepted', async (...row) => {
  const [request, ...details] = row;
  expect(await readDetails(request)).toEqual(details);
});

test.each([
  ['', notJson],
  ['text/plain', notJson],
  ['application/x-www-form-urlencoded', notJson],
  ['application/jsonp', notJson],
  ['application/json;', readAsJson],
  ['application/JSON; charset=utf-8', readAsJson],
  ['application/vnd.stream+json', readAsJson],
])('a body of the type %j is refused with exactly its details', async (contentType, detail) => {
  expect(await readDetails('POST /streams/validate {"stream_url":1}', contentType)).toEqual([detail]);
});

test('an If-Match that is no ETag is refused with exactly its details', async () => {
  const change = 'PATCH /watches/11111111-1111-1111-1111-111111111111 {}';
  expect(await readDetails(change, 'application/json', { 'if-match': 'abc' })).toEqual([
    'custom header.If-Match: use the ETag of GET /watches/{watch_id}, as "3", or *',
  ]);
});

/** Sends a request and returns the details of its 422. */
async function readDetails(
  request: string,
  contentType = 'application/json',
  further: Record<string, string> = {},
): Promise<string[]> {
  const [, method = '', path = '', body] = /^(\w+) (\S+) ?(.*)$/s.exec(request) ?? [];
  app ??= createApp(world.c);
  const response = await app.request(`/api${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(contentType && { 'content-type': contentType }),
      ...further,
    },
    ...(method !== 'GET' && { body: new TextEncoder().encode(body) }),
  });
  expect(response.status).not.toBe(500);
  if (response.status !== 422) return [];
  const { detail } = (await response.json()) as {
    detail: { type: string; loc: (string | number)[]; msg: string }[];
  };
  return detail.map(({ type, loc, msg }) => `${type} ${loc.join('.')}: ${msg}`);
}

/** Returns Zod's name of the type of a JSON text. */
function kind(json: string): string {
  const value: unknown = JSON.parse(json);
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
