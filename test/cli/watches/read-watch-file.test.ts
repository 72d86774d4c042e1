import { expect, test } from 'vitest';
import { readWatchFile } from '../../../cli/watches/read-watch-file.ts';

const env = { CAMERA: 'rtsp://user:pass@camera.example/1', TOKEN: 'tk_1', EMPTY: '' };
const read = (text: string) => readWatchFile(text, 'watches.yaml', env);
const watch = (fields = '') => `
  - name: Gate
    stream_url: \${CAMERA}
    conditions: [{condition: A person is there}]
${fields}`;

test('a YAML file of watches is read with the defaults of the service, and variables are replaced', () => {
  const [gate] = read(
    `watches:${watch('    destinations: [{type: ntfy, url: "https://ntfy.example/gate", token: "${TOKEN}"}]')}`,
  );
  expect(gate).toMatchObject({
    name: 'Gate',
    stream_url: env.CAMERA,
    interval_seconds: 10,
    conditions: [{ condition: 'A person is there', checks_to_open: 2 }],
    destinations: [{ type: 'ntfy', token: 'tk_1' }],
  });
});

test.each([
  ['a list', watch(), 1],
  [
    'JSON',
    JSON.stringify({ name: 'A', stream_url: 'rtsp://c.example/1', conditions: [{ condition: 'x' }] }),
    1,
  ],
  [
    'two documents',
    'name: A\nstream_url: rtsp://c.example/1\nconditions: [{condition: x}]\n---\n' + watch(),
    2,
  ],
  ['no watches', 'watches: []', 0],
])('a file with %s is read', (_, text, count) => {
  expect(read(text)).toHaveLength(count);
});

test.each([
  [
    'an unset variable',
    watch('    labels: ["${MISSING}"]'),
    'watch "Gate": the environment variable MISSING is not set',
  ],
  ['an empty variable', watch('    labels: ["a${EMPTY}"]'), 'the environment variable EMPTY is not set'],
  ['a malformed variable', watch('    labels: ["${A-b}"]'), '${A-b} is no environment variable'],
  [
    'an unknown field',
    watch('    intervall_seconds: 5'),
    'unknown field intervall_seconds; did you mean interval_seconds?',
  ],
  [
    'an unknown field of a condition',
    '- {name: A, stream_url: "rtsp://c.example/1", conditions: [{condition: x, cooldown: 5}]}',
    'watch "A", conditions.0: unknown field cooldown',
  ],
  [
    'an unknown field of a schedule',
    watch('    schedule: {time_zone: Europe/Berlin, activ: []}'),
    'unknown field activ; did you mean active?',
  ],
  ['a value outside of its limits', watch('    interval_seconds: 1'), 'watch "Gate", interval_seconds: '],
  ['a missing field', '- {name: A}', 'watch "A", stream_url: '],
  ['a repeated name', watch() + watch(), 'the name "Gate" occurs twice'],
  ['a text', 'just words', 'watch 1: '],
])('a file with %s is rejected with watch and field', (_, text, message) => {
  expect(() => read(text)).toThrow(message);
});

test('two dollar signs stand for a literal variable', () => {
  expect(read(watch('    labels: ["$${TOKEN}"]'))[0]?.labels).toEqual(['${TOKEN}']);
});

test.each([
  ['', 'is empty'],
  ['# only a comment', 'is empty'],
  ['watches: [', 'is not YAML or JSON'],
  ['name: A\nname: B', 'is not YAML or JSON'],
])('a file without a readable watch is rejected: %j', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

test('a rejected file shows no value, which may be secret', () => {
  const text = watch('    destinations: [{type: slack, url: 7, token: "${TOKEN}", secret: "${TOKEN}"}]');
  expect(() => read(text)).toThrow(/^(?!.*tk_1)/s);
});
