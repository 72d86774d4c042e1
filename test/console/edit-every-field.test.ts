import { buildSync } from 'esbuild';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import * as examples from '../../adapters/openapi/examples/watches.ts';
import type { Watch, WatchPatch } from '../../console/api/types.ts';
import { toWatchDraft, toWatchRequest } from '../../console/watches/watch-draft.ts';
import { watchRequestSchema } from '../../core/requests/watches.ts';
import { service } from '../../adapters/openapi/examples/operations.ts';
import { createFakeDocument, FakeNode } from './fake-document.ts';

/** Bundles the form with its own Preact, because Node does not load JSX. */
function bundle(): Promise<any> {
  const contents = `
    export { h, options, render } from 'preact';
    export { SessionContext } from './session/session.ts';
    export { checkOnceRequestFields, monitorRequestDefaults } from '../client/openapi-types.ts';
    export { NumberField } from './parts/field.tsx';
    export { CheckForm } from './try/check-form.tsx';
    export { emptyDraft } from './try/draft.ts';
    export { StartJob } from './try/start-job.tsx';
    export { EditWatch } from './watches/edit-watch.tsx';`;
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: 'console' },
    bundle: true,
    format: 'esm',
    write: false,
  });
  const [file] = outputFiles;
  return import(`data:text/javascript;base64,${Buffer.from(file!.contents).toString('base64')}`);
}

const { h, options, render, SessionContext, EditWatch, ...parts } = await bundle();

beforeEach(() => {
  vi.stubGlobal('document', createFakeDocument());
  vi.stubGlobal('HTMLElement', FakeNode);
  options.requestAnimationFrame = setImmediate;
});
afterEach(() => {
  vi.unstubAllGlobals();
  delete options.requestAnimationFrame;
});

const destination = (type: string) => ({ ...examples.watch.destinations[0], destination_id: type, type });
/** Request without an answer. */
const never = () => new Promise(() => undefined);
/** Watch that shows every control of the form. */
const watch = {
  ...examples.watch,
  input_mode: 'clip',
  schedule: { time_zone: 'UTC', active: [{ days: ['mon', 'tue'], from: '08:00', to: '18:00' }] },
  conditions: [{ ...examples.watch.conditions[0], alert_on: 'by_checks' }],
  budget: { model_calls_per_day: 10, usd_per_day: 2 },
  destinations: ['webhook', 'ntfy', 'telegram', 'pagerduty', 'email'].map(destination),
  regions: [
    {
      mode: 'include',
      points: [
        [0, 0],
        [1, 0],
        [1, 1],
      ],
    },
  ],
} as any as Watch;

/** Renders the form. Returns its element, the patch that it sends, and a function that removes it. */
function showForm() {
  const sent: { patch: WatchPatch } = { patch: {} };
  const changeWatch = async (_: string, __: number, patch: WatchPatch) => void (sent.patch = patch);
  const form = h(EditWatch, { watch, onDone: () => undefined, onClose: () => undefined });
  return { ...show(form, { changeWatch }), sent };
}

/** Renders a part of the console, whose requests but `answers` get no answer. */
function show(children: unknown, answers: object = {}) {
  const root = new FakeNode('body');
  const api = { advise: never, validateStream: never, ...answers };
  const value = { api, pictures: { urlFor: never }, service };
  render(h(SessionContext.Provider, { value, children }), root);
  return { root, remove: () => render(null, root) };
}

/**
 * Changes the control at `index` of the form and saves. Returns the patch that the form sends; null without such a
 * control.
 */
async function change(index: number): Promise<WatchPatch | null> {
  const { root, sent, remove } = showForm();
  const control = root.find('input', 'select', 'textarea')[index];
  if (control) {
    operate(control);
    await settled();
    root.find('form')[0]?.dispatch('submit');
    await settled();
  }
  remove();
  await settled();
  return control ? sent.patch : null;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function operate(control: FakeNode): void {
  const { value } = { ...control.attributes, ...(control as any) };
  const options = control.find('option').map((option) => (option as any).value ?? option.attributes['value']);
  const other = options.find((option) => option !== value) ?? `9${value}`;
  const target = { value: other, valueAsNumber: Number(other), checked: !('checked' in control.attributes) };
  control.dispatch('input', target);
}

/** Returns the paths of all values without indexes, such as `conditions.severity=warning`. */
function leaves(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${path}=${String(value)}`];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([name, each]) =>
    leaves(each, isList ? `${path}[${name}]` : `${path}${path && '.'}${name}`),
  );
}

/** Returns the paths of the fields of a JSON schema. */
function fields(schema: any, path = ''): string[] {
  const parts = [schema, ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  const inner = parts.flatMap((part) => [
    ...(part.items?.properties || part.items?.anyOf ? fields(part.items, path) : []),
    ...Object.entries(part.properties ?? {}).flatMap(([name, each]) =>
      fields(each, `${path}${path && '.'}${name}`),
    ),
  ]);
  return inner.length > 0 ? inner : [path];
}

/** Assigned by the service. */
const assigned = ['conditions.condition_id', 'destinations.destination_id'];

test('the form of a watch has a control for each field of the request', async () => {
  const schema = z.toJSONSchema(watchRequestSchema, { io: 'input', unrepresentable: 'any' });
  const wanted = fields(schema).filter((field) => !assigned.includes(field));
  const before = leaves(toWatchRequest(toWatchDraft(watch)));
  const reached = new Set<string>();
  for (let index = 0; ; index += 1) {
    const patch = await change(index);
    if (patch === null) break;
    for (const leaf of leaves(patch))
      if (!before.includes(leaf)) reached.add(leaf.replace(/=.*|\[\d+\]/gs, ''));
  }
  expect(wanted.filter((field) => !reached.has(field))).toEqual([]);
});

/** Returns the path in the request of the field around a control, without indexes. */
function fieldOf({ parentNode, attributes }: FakeNode): string {
  const name = attributes['data-field'];
  return typeof name === 'string' ? name.replaceAll(/\.\d+/g, '') : parentNode ? fieldOf(parentNode) : '';
}

test('each number of the form has the bounds of its field in the schema of the request', async () => {
  const { root, remove } = showForm();
  const numbers = root.find('input').filter(({ attributes }) => attributes['type'] === 'number');
  const shown = numbers.map((control) => [
    fieldOf(control),
    control.attributes['min'],
    control.attributes['max'],
  ]);
  remove();
  await settled();
  const schema = z.toJSONSchema(watchRequestSchema, { io: 'input', unrepresentable: 'any' });
  const stated = new Map(bounds(schema));
  // The second look is not later than the next check.
  stated.set('confirm_seconds', [1, watch.interval_seconds]);
  expect(shown).toHaveLength(stated.size);
  expect(shown).toEqual(shown.map(([field]) => [field, ...(stated.get(String(field)) ?? [])]));
});

/** Renders a part of the console and removes it. Returns its numbers with their notes, by their labels. */
async function showNumbers(children: unknown) {
  const { root, remove } = show(children);
  const found = root.find('div').filter(({ attributes }) => attributes['class'] === 'field stack');
  const numbers = found.map(({ childNodes: [label, control, note] }) => {
    const shown = { ...control?.attributes, note: note?.firstChild?.data };
    return [label?.firstChild?.data, shown] as const;
  });
  remove();
  await settled();
  return new Map(numbers);
}

test('a number says its bounds behind its hint, and one that has neither has no description', async () => {
  const number = (label: string, bounds: object) => h(parts.NumberField, { label, value: 1, ...bounds });
  const numbers = await showNumbers([
    number('Both', { hint: 'Per day', min: 1, max: 2000 }),
    number('Least', { hint: 'Per day', min: 1 }),
    number('None', { min: 0 }),
  ]);
  expect(numbers.get('Both')?.note).toBe('Per day; 1 to 2,000');
  expect(numbers.get('Least')?.note).toBe('Per day; at least 1');
  expect(numbers.get('None')?.note).toBeUndefined();
  expect(numbers.get('None')).not.toHaveProperty('aria-describedby');
});

test('the form of a job says the defaults of its request, and that of a check has the bounds of its own', async () => {
  const { monitorRequestDefaults: defaults, checkOnceRequestFields: bounds } = parts;
  Object.assign(defaults, { trigger_cooldown_seconds: 7, max_triggers: 9 });
  Object.assign(bounds.clip_duration_seconds, { max: 6 });
  onTestFinished(() => {
    Object.assign(defaults, { trigger_cooldown_seconds: 0, max_triggers: 1 });
    Object.assign(bounds.clip_duration_seconds, { max: 10 });
  });
  const draft = { ...parts.emptyDraft, input_mode: 'clip' };
  vi.stubGlobal('location', { origin: 'http://localhost' });
  const job = await showNumbers(h(parts.StartJob, { draft }));
  expect(job.get('Cooldown (s)')?.note).toMatch(/default is 7; 0 to 3,600$/);
  expect(job.get('Maximum alerts')?.note).toMatch(/default is 9; at least 1$/);
  const check = await showNumbers(h(parts.CheckForm, { draft }));
  expect(check.get('Clip length in seconds')).toMatchObject({ max: 6 });
});

/** Returns the bounds of the numbers of a JSON schema by their paths. The points of a region are text. */
function bounds(schema: any, path = ''): [string, unknown[]][] {
  const parts = [schema, ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  return parts.flatMap((part) => [
    ...('minimum' in part && path !== 'regions.points'
      ? [[path, [part.minimum, part.maximum]] as [string, unknown[]]]
      : []),
    ...(part.items ? bounds(part.items, path) : []),
    ...Object.entries(part.properties ?? {}).flatMap(([name, each]) =>
      bounds(each, `${path}${path && '.'}${name}`),
    ),
  ]);
}
