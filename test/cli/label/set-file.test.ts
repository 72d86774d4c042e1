import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSetFile } from '../../../cli/label/set-file.ts';
import { openSetWriter } from '../../../cli/evaluate/set-writer.ts';
import { addReviewedAlerts } from '../../../cli/label/add-reviewed-alerts.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-label-'));
  file = join(folder, 'set.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const line = (picture: string, extra = {}) =>
  JSON.stringify({ picture, condition: 'A dog is there.', expected: null, ...extra });
const read = () => readFileSync(file, 'utf8');

test('a label changes one line and keeps other fields, blank lines and lines that cannot be read', async () => {
  writeFileSync(file, [line('a.jpg', { camera: 'gate' }), '', 'not JSON', line('b.jpg')].join('\n'));
  await openSetFile(file).label(1, 'unclear');
  await openSetFile(file).label(0, 'yes');
  const [first, blank, broken, second] = read().split('\n');
  expect(JSON.parse(first!)).toMatchObject({ camera: 'gate', expected: 'yes' });
  expect([blank, broken]).toEqual(['', 'not JSON']);
  expect(JSON.parse(second!)).toMatchObject({ picture: 'b.jpg', expected: 'unclear' });
});

test('labels that are stored concurrently are all kept', async () => {
  const count = 30;
  writeFileSync(file, Array.from({ length: count }, (_, index) => line(`${index}.jpg`)).join('\n'));
  const set = openSetFile(file);
  await Promise.all(Array.from({ length: count }, async (_, index) => set.label(index, 'no')));
  expect((await set.examples()).every(({ expected }) => expected === 'no')).toBe(true);
});

test('an example that another program removed is named, and nothing is written', async () => {
  writeFileSync(file, line('a.jpg'));
  await expect(openSetFile(file).label(3, 'yes')).rejects.toThrow('The set has no example 4.');
  expect(read()).toBe(line('a.jpg'));
});

test('a second run of a replay adds new frames and keeps the labels of those that are there', async () => {
  const example = { id: 'x', condition: 'A dog is there.', expected: null };
  const bytes = (...all: number[]) => new Uint8Array(all);
  expect(await (await openSetWriter(folder))({ ...example, frame: bytes(1) })).toBe(true);
  await openSetFile(file).label(0, 'yes');
  const add = await openSetWriter(folder);
  expect(await add({ ...example, frame: bytes(1) })).toBe(false);
  expect(await add({ ...example, frame: bytes(2) })).toBe(true);
  const labels = (await openSetFile(file).examples()).map(({ expected }) => expected);
  expect(labels).toEqual(['yes', null]);
});

test('reviewed alerts of all pages become examples with their review as the right answer', async () => {
  const alert = (id: string, review: { correct: boolean; note: string } | null, frame = '/frame') => ({
    alert_id: id,
    watch_name: 'Gate',
    condition: 'A dog is there.',
    explanation: 'A dog.',
    frame_url: frame === '' ? null : frame,
    review: review && { ...review, at: '2026-11-22T00:00:00Z', by: 'me' },
  });
  const right = { correct: true, note: '' };
  const pages = [
    [alert('1', right), alert('2', null), alert('3', right, '')],
    [alert('4', { correct: false, note: 'A fox' })],
  ];
  const asked: (string | undefined)[] = [];
  const added = await addReviewedAlerts({
    listAlerts: async ({ after }) => {
      asked.push(after);
      return { alerts: pages[asked.length - 1]!, next_after: asked.length === 1 ? 'page-2' : null };
    },
    alertFrame: async (id) => new Uint8Array([Number(id)]),
    add: await openSetWriter(folder),
  });
  expect({ added, asked }).toEqual({ added: 2, asked: [undefined, 'page-2'] });
  expect(await openSetFile(file).examples()).toMatchObject([
    { id: 'Gate, alert 1', expected: 'yes' },
    { id: 'Gate, alert 4', expected: 'no', note: 'A fox' },
  ]);
});

test('a line that is no example is named with its number', async () => {
  writeFileSync(file, `${line('a.jpg')}\nnot json\n`);
  const { examples, problems } = await openSetFile(file).read();
  expect(examples).toHaveLength(1);
  expect(problems).toMatchObject([{ line: 2 }]);
});
