import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { readExampleMedia } from '../../../cli/evaluate/example-media.ts';
import { openSetFile } from '../../../cli/label/label-app.ts';
import { openSetWriter } from '../../../cli/evaluate/set-writer.ts';
import { addReviewedAlerts } from '../../../cli/commands/label.ts';

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

test.each(['../secret.jpg', '/etc/hostname', 'link.jpg', 'folder/secret.jpg', 'gate/../../secret.jpg'])(
  'a set cannot name %s, which is outside of its folder',
  async (name) => {
    const set = join(folder, 'set');
    mkdirSync(join(set, 'gate'), { recursive: true });
    writeFileSync(join(folder, 'secret.jpg'), 'secret');
    symlinkSync(join(folder, 'secret.jpg'), join(set, 'link.jpg'));
    symlinkSync(folder, join(set, 'folder'));
    const shared = { condition: 'A dog is there.', expected: null, tags: [] };
    for (const example of [
      { ...shared, picture: name },
      { ...shared, video: name, from_seconds: 0, to_seconds: 1 },
    ])
      await expect(
        readExampleMedia(
          example,
          set,
          { mode: 'frames', clipSeconds: 3 },
          noFfmpeg,
          AbortSignal.timeout(20_000),
        ),
      ).rejects.toThrow(`${name} is outside of the folder of the set.`);
  },
);

const playlist = '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nfile:///recordings/private.mp4\n';

test.each([
  ['a playlist', playlist],
  ['a playlist with a zero byte', `${playlist}#\0\n`],
  ['a playlist with a control character in its first comment', `#EXTM3U\n\u0001${playlist}`],
  ['a script of ffconcat', "ffconcat version 1.0\n#\u0001\nfile 'private.mp4'\n"],
])('a video of a set cannot be %s, which names other files', async (_, content) => {
  writeFileSync(join(folder, 'a.mp4'), content);
  const example = {
    video: 'a.mp4',
    from_seconds: 0,
    to_seconds: 1,
    condition: 'A dog',
    expected: null,
    tags: [],
  };
  const read = readExampleMedia(
    example,
    folder,
    { mode: 'frames', clipSeconds: 3 },
    noFfmpeg,
    AbortSignal.timeout(20_000),
  );
  await expect(read).rejects.toThrow('is not a video file');
});

test.each(['frames', 'set.jsonl'])('a set whose %s is a link elsewhere gets no frames', async (name) => {
  const target = mkdtempSync(join(tmpdir(), 'watchpost-label-'));
  onTestFinished(() => rmSync(target, { recursive: true, force: true }));
  if (name === 'set.jsonl') writeFileSync(join(target, 'kept'), 'kept');
  symlinkSync(name === 'frames' ? target : join(target, 'kept'), join(folder, name));
  await expect(openSetWriter(folder)).rejects.toThrow('outside of the folder');
  expect(readdirSync(target)).toEqual(name === 'frames' ? [] : ['kept']);
});

test('a label replaces its temporary file instead of following a link of that name', async () => {
  writeFileSync(file, line('a.jpg'));
  writeFileSync(join(folder, 'kept'), 'kept');
  symlinkSync(join(folder, 'kept'), `${file}.part`);
  await openSetFile(file).label(0, 'yes');
  expect(readFileSync(join(folder, 'kept'), 'utf8')).toBe('kept');
  expect(JSON.parse(read()).expected).toBe('yes');
});

const refuse = () => Promise.reject(new Error('ffmpeg was started'));
const noFfmpeg = { run: refuse, runAll: refuse };
