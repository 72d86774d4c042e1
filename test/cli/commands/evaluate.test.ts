import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addEvaluate } from '../../../cli/commands/evaluate.ts';
import { runCommand } from '../../support/run-command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evaluate-'));
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

async function evaluate(...args: string[]) {
  return runCommand(addEvaluate, 'evaluate', ...args, '--model', 'objects');
}

test('the built-in model passes the colors of the basic set, and the report shows the page without other hosts', async () => {
  const report = join(folder, 'report.html');
  const { stdout } = await evaluate(
    'basic',
    '--tag',
    'color',
    '--json',
    '--report',
    report,
    '--at-least',
    'f1=1',
  );
  const { results } = JSON.parse(stdout);
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({
    model: 'objects',
    mode: 'frames',
    mistakes: [],
    failed_calls: 0,
    usd: 0,
  });
  const page = await readFile(report, 'utf8');
  expect(page).toContain('objects frames');
  expect(page).not.toMatch(/(src|href)="https?:/);
});

test('a requirement that is missed ends with exit code 1 and names the measure', async () => {
  const set = join(folder, 'set.jsonl');
  const picture = 'red-wall.jpg';
  await copyFile(join('cli/evaluate/basic-set', picture), join(folder, picture));
  const line = { picture, condition: 'The picture is mostly blue.', expected: 'yes' };
  await writeFile(set, JSON.stringify(line));
  await expect(evaluate(set, '--at-least', 'recall=0.95')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('objects frames: recall is 0.000, less than 0.95'),
  });
});

test('an invalid line of a set is named with its number', async () => {
  const set = join(folder, 'broken.jsonl');
  await writeFile(set, '{"picture":"a.jpg"}\n');
  await expect(evaluate(set)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('line 1: it needs picture'),
  });
});

test('each prompt is a row, and an unknown one names those that exist', async () => {
  const { stdout } = await evaluate(
    'basic',
    '--tag',
    'color',
    '--prompt',
    'strict',
    '--prompt',
    'evidence-first',
  );
  expect(stdout).toContain('objects frames strict ');
  expect(stdout).toContain('objects frames evidence-first ');
  await expect(evaluate('basic', '--prompt', 'stern')).rejects.toMatchObject({
    stderr: expect.stringContaining('verdict-first, evidence-first, strict, last-frame'),
  });
});
