import { existsSync, globSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { excludedFrom, laneOrder, lanes, longFiles, type Lane } from './lanes.ts';

const names = Object.keys(lanes) as Lane[];
const findFiles = (lane: Lane) => globSync([...lanes[lane]], { exclude: excludedFrom(lane) });

test('each test file belongs to exactly one lane', () => {
  const files = globSync('test/**/*.test.ts');
  expect(files.length).toBeGreaterThan(200);
  expect(names.flatMap(findFiles).toSorted()).toEqual(files.toSorted());
});

test.each(names)('each pattern of the lane %s matches a test file', (lane) => {
  for (const pattern of lanes[lane])
    expect(globSync(pattern, { exclude: excludedFrom(lane) }), pattern).not.toEqual([]);
});

test('each lane has its place in the order, and each long file exists', () => {
  expect(laneOrder.toSorted()).toEqual(names.toSorted());
  expect(longFiles.filter((file) => !existsSync(file))).toEqual([]);
});

test('each lane has a row in CONTRIBUTING.md', () => {
  const guide = readFileSync('CONTRIBUTING.md', 'utf8');
  for (const lane of names) expect(guide).toContain(`- \`npm test -- --project ${lane}\``);
});

test('the lane core refuses sockets and processes', () => {
  expect(() => connect(9, '127.0.0.1')).toThrow('add the test file to another lane');
  expect(() => createServer().listen(0, '127.0.0.1')).toThrow('add the test file to another lane');
  expect(() => spawn('true')).toThrow('add the test file to another lane');
});
