import type { Answer } from '../api.ts';
import type { Case, Target } from '../case.ts';
import { assert, excerpt, invalid } from '../expect.ts';

/** Cases of every request field: accepted and rejected values at its limits. */

type Field = { name: string; covers: string[]; required?: boolean } & (
  | { kind: 'text'; max: number; sample: (length: number) => string }
  | { kind: 'integer'; min: number; max?: number; nullable?: boolean }
  | { kind: 'boolean' }
  | { kind: 'mode' }
);
type Endpoint = { path: string; body: Record<string, unknown>; fields: Field[] };

const text = (length: number): string => 'x'.repeat(length);
/** URL with an unsupported scheme: a request that fits the schema fails for its URL and starts nothing. */
const refusedUrl = (length: number): string => 'javascript:'.padEnd(length, 'x').slice(0, length);
const webhook = (length: number): string => 'https://example.com/'.padEnd(length, 'x').slice(0, length);

const streamUrl = (id: string): Field => ({
  name: 'stream_url',
  covers: [id, 'I-8.4'],
  required: true,
  kind: 'text',
  max: 500,
  sample: refusedUrl,
});
const condition = (id: string): Field => ({
  name: 'condition',
  covers: [id, 'I-8.5'],
  required: true,
  kind: 'text',
  max: 1000,
  sample: text,
});
const webhookUrl = (id: string): Field => ({
  name: 'webhook_url',
  covers: [id, 'I-8.6'],
  kind: 'text',
  max: 2083,
  sample: webhook,
});
const mode = (id: string): Field => ({ name: 'input_mode', covers: [id, 'I-1.16'], kind: 'mode' });
const integer = (name: string, min: number, max: number | undefined, ...covers: string[]): Field => ({
  name,
  covers,
  kind: 'integer',
  min,
  ...(max === undefined ? {} : { max }),
});

const endpoints: Endpoint[] = [
  {
    path: '/check-once',
    body: { stream_url: refusedUrl(30), condition: 'x' },
    fields: [
      streamUrl('I-4.1.1'),
      condition('I-4.1.2'),
      { name: 'include_frame', covers: ['I-4.1.3'], kind: 'boolean' },
      mode('I-4.1.4'),
      integer('clip_duration_seconds', 1, 10, 'I-4.1.5', 'I-8.8'),
    ],
  },
  {
    path: '/live-monitor',
    body: { stream_url: refusedUrl(30), condition: 'x' },
    fields: [
      streamUrl('I-4.2.1'),
      condition('I-4.2.2'),
      webhookUrl('I-4.2.3'),
      integer('interval_seconds', 5, 300, 'I-4.2.4', 'I-8.7'),
      mode('I-4.2.5'),
      integer('clip_duration_seconds', 1, 10, 'I-4.2.6', 'I-8.8'),
      integer('monitor_duration_seconds', 5, undefined, 'I-4.2.7', 'I-8.2'),
      integer('trigger_cooldown_seconds', 0, 3600, 'I-4.2.8', 'I-8.9'),
      {
        name: 'max_triggers',
        covers: ['I-4.2.9', 'I-8.10'],
        kind: 'integer',
        min: 1,
        nullable: true,
      },
      { name: 'enable_prefilter', covers: ['I-4.2.14', 'I-1.13'], kind: 'boolean' },
    ],
  },
  {
    path: '/live-digest',
    body: { stream_url: refusedUrl(30) },
    fields: [
      streamUrl('I-4.3.1'),
      integer('window_minutes', 1, 60, 'I-4.3.2', 'I-8.11'),
      webhookUrl('I-4.3.3'),
      integer('capture_interval_seconds', 10, 300, 'I-4.3.4', 'I-8.12'),
      { name: 'max_windows', covers: ['I-4.3.5', 'I-8.13'], kind: 'integer', min: 1, nullable: true },
      { name: 'include_frames', covers: ['I-4.3.6'], kind: 'boolean' },
      { name: 'enable_prefilter', covers: ['I-1.13'], kind: 'boolean' },
    ],
  },
  { path: '/streams/validate', body: { stream_url: refusedUrl(30) }, fields: [streamUrl('I-4.4.1')] },
  {
    path: '/analyze-frame',
    body: { frame_b64: 'AAAA', question: 'x' },
    fields: [
      {
        name: 'question',
        covers: ['I-2.6.2', 'I-8.5', 'I-4.5.3'],
        required: true,
        kind: 'text',
        max: 1000,
        sample: text,
      },
      { name: 'include_frame', covers: ['I-2.6.3', 'I-4.5.3'], kind: 'boolean' },
    ],
  },
];

const perField = endpoints.flatMap((endpoint) =>
  endpoint.fields.map((field): Case => ({
    id: `field-${endpoint.path.slice(1).replace('/', '-')}-${field.name.replaceAll('_', '-')}`,
    title: `POST ${endpoint.path} accepts ${field.name} within its limits and rejects other values with 422`,
    covers: [...field.covers, 'I-7.9', 'I-2.9.1'],
    slots: makesJobs(endpoint) ? 1 : 0,
    run: (target) => tryField(target, endpoint, field),
  })),
);

export const fieldCases: Case[] = [
  ...perField,
  {
    id: 'field-types',
    title: 'the loc of a 422 is the body, then the field',
    covers: ['I-2.9.1', 'I-7.9'],
    needs: ['decisions'],
    run: async (target) => {
      for (const endpoint of endpoints)
        for (const field of endpoint.fields) await nameMistakes(target, endpoint, field);
    },
  },
];

/** Returns true for endpoints that create jobs, which need a free slot: the job limit is checked before the fields. */
function makesJobs({ path }: Endpoint): boolean {
  return path.startsWith('/live-');
}

async function tryField(target: Target, endpoint: Endpoint, field: Field): Promise<void> {
  const { good, bad } = samples(field);
  for (const value of good) {
    const answer = await send(target, endpoint, field, value);
    assert.equal(answer.status, 400, `${shown(field, value)} should be accepted: ${excerpt(answer.text)}`);
  }
  for (const value of bad)
    invalid(await send(target, endpoint, field, value), field.name, shown(field, value));
}

async function nameMistakes(target: Target, endpoint: Endpoint, field: Field): Promise<void> {
  for (const value of samples(field).bad) {
    const what = `${endpoint.path}: ${shown(field, value)}`;
    const entry = invalid(await send(target, endpoint, field, value), field.name, what);
    assert.deepEqual(entry.loc, ['body', field.name], what);
  }
}

function send({ api }: Target, { path, body }: Endpoint, { name }: Field, value: unknown): Promise<Answer> {
  return api.call('POST', path, { ...body, [name]: value });
}

function samples(field: Field): { good: unknown[]; bad: unknown[] } {
  switch (field.kind) {
    case 'text':
      return {
        good: [field.sample(1), field.sample(field.max)],
        bad: [...(field.required ? [undefined] : []), '', field.sample(field.max + 1), 7, {}],
      };
    case 'integer': {
      const beyond = field.max === undefined ? [] : [field.max + 1];
      return {
        good: [field.min, ...(field.max === undefined ? [] : [field.max]), ...(field.nullable ? [null] : [])],
        bad: [field.min - 1, ...beyond, 'soon', field.min + 0.5, [], ...(field.nullable ? [] : [null])],
      };
    }
    case 'boolean':
      return { good: [true, false], bad: ['maybe', []] };
    case 'mode':
      return { good: ['frames', 'clip', 'hybrid'], bad: ['video', 'Frames', 1] };
  }
}

function shown({ name }: Field, value: unknown): string {
  return `${name} = ${(JSON.stringify(value) ?? 'missing').slice(0, 40)}`;
}
