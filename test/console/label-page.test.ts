import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inspect, launch, openPage } from './browser.ts';

const folder = mkdtempSync(join(tmpdir(), 'watchpost-label-page-'));
const file = join(folder, 'set.jsonl');
const pictures = ['red-wall', 'blue-wall', 'green-field'];
let label: ChildProcess;
let address: string;
let browser: Browser;
let page: Page;
let faults: string[];

beforeAll(async () => {
  const line = (name: string) => {
    cpSync(`cli/evaluate/basic-set/${name}.jpg`, join(folder, `${name}.jpg`));
    const verdict = { triggered: true, explanation: 'Red covers the frame.' };
    return JSON.stringify({ picture: `${name}.jpg`, condition: 'The wall is red.', expected: null, verdict });
  };
  writeFileSync(file, `${pictures.map(line).join('\n')}\n`);
  label = spawn(process.execPath, ['cli/watchpost.ts', 'label', folder, '--label-port', '0']);
  const [printed] = await once(label.stdout!, 'data');
  address = /http:\S+/.exec(String(printed))![0];
  browser = await launch();
  ({ page, faults } = await openPage(browser, new URL(address).host));
  await page.goto(address);
});
afterAll(async () => {
  await browser.close();
  label.kill('SIGTERM');
  await once(label, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

const labels = () =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).expected);

test('a set is labelled with the keyboard alone, with undo and progress, and each label is in the file', async () => {
  await page.getByText('0 of 3 labelled').waitFor();
  await page.locator('img[src="/label/pictures/0"]').waitFor();
  await inspect(page, 'label');
  await page.keyboard.press('y');
  await page.keyboard.press('y');
  await page.getByText('2 of 3 labelled').waitFor();
  await page.keyboard.press('z');
  await page.getByText('1 of 3 labelled').waitFor();
  await page.locator('img[src="/label/pictures/1"]').waitFor();
  await page.keyboard.press('n');
  await page.keyboard.press('u');
  await page.getByText('3 of 3 labelled').waitFor();
  await page.getByText(`watchpost -- evaluate ${folder}`).waitFor();
  await expect.poll(labels, { timeout: 10_000 }).toEqual(['yes', 'no', 'unclear']);
  await page.getByLabel('Show the verdict of the model').check();
  await page.getByText('Red covers the frame.').waitFor();
  await inspect(page, 'label-done');
  await page.getByRole('button', { name: 'No', exact: false }).first().click();
  await expect.poll(labels, { timeout: 10_000 }).toEqual(['yes', 'no', 'no']);
  await page.reload();
  await page.getByText('3 of 3 labelled').waitFor();
  expect(faults).toEqual([]);
}, 90_000);
