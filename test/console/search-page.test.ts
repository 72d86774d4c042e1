import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { startLoop, type LoopedStream } from '../support/hls/looped-stream.ts';
import { startService, type ServiceProcess } from '../support/service-process.ts';
import { folderOfFile } from '../support/temporary-folder.ts';
import { inspect, launch, openPage } from './browser.ts';
import { createCaller, type Caller } from './console-caller.ts';

const dataDir = folderOfFile();
let service: ServiceProcess;
let stream: LoopedStream;
let browser: Browser;
let page: Page;
let faults: string[];
let caller: Caller;

beforeAll(async () => {
  [service, stream, browser] = await Promise.all([
    startService(dataDir),
    startLoop('testsrc2=size=640x360:rate=5'),
    launch(),
  ]);
  caller = await createCaller(service);
  ({ page, faults } = await openPage(browser, host()));
});
afterAll(async () => {
  await browser.close();
  await stream.close();
  await service.kill('SIGTERM');
});

const host = () => new URL(service.baseUrl).host;
const field = (label: string) => page.getByLabel(label, { exact: true });
const button = (name: string, exact = false) => page.getByRole('button', { name, exact });

test('a question is answered by pictures, a miss is reviewed, and a new condition is tried before it is added', async () => {
  const { watch_id: watchId } = await caller.call('POST', '/watches', {
    name: 'Yard',
    stream_url: stream.url,
    interval_seconds: 5,
    conditions: ['The picture is not black', 'The picture is entirely black'].map((condition) => ({
      condition,
    })),
  });
  const remembered = async () => (await caller.call('GET', `/moments?watch_id=${watchId}`)).moments.length;
  await expect.poll(remembered, { timeout: 60_000 }).toBeGreaterThan(2);
  await page.goto(`http://${host()}/console#/search`);
  await field('API key').fill(caller.key);
  await page.keyboard.press('Enter');
  await field('What do you look for?').fill('Was anything there');
  await button('Ask', true).press('Enter');
  const moments = page.getByRole('list', { name: 'Moments of the answer' });
  await moments.locator('img').first().waitFor();
  await page
    .getByRole('status')
    .getByText(/^Yes: 1 visit /)
    .waitFor();
  await inspect(page, 'search-answer');

  await moments.getByRole('button', { name: 'You missed this' }).press('Enter');
  await field('Condition').selectOption('The picture is entirely black');
  await inspect(page, 'moment-missed');
  await button('It was missed').press('Enter');
  await moments.getByText('Missed: The picture is entirely black').waitFor();
  const { precision } = await caller.call('GET', `/watches/${watchId}/stats`);
  expect(precision).toMatchObject([{ missed: 0 }, { missed: 1 }]);

  await moments.getByRole('button', { name: 'Alert me about this' }).press('Enter');
  expect(await field('Condition').inputValue()).toMatch(/bright/);
  await field('Condition').fill('The picture is not dark');
  await button('Try it on the past').press('Enter');
  await page.getByText(/^\d+ moments: \d+ model calls?\.$/).waitFor();
  await button('Play the past').press('Enter');
  const played = page.getByRole('region', { name: 'On the past' }).getByText(/ played\. /);
  await expect.poll(() => played.textContent()).toMatch(/^1 alert, /);
  const alerts = page.getByRole('list', { name: 'Alerts that it would have opened' });
  await alerts.locator('img').first().waitFor();
  await inspect(page, 'alert-me');
  await button('Add condition').press('Enter');
  await page.getByRole('heading', { name: 'Yard', level: 1 }).waitFor();
  const { conditions } = await caller.call('GET', `/watches/${watchId}`);
  expect(conditions).toMatchObject([{}, {}, { condition: 'The picture is not dark' }]);
  expect(faults).toEqual([]);
}, 120_000);

test('a refused form marks its fields until they are changed, also a folded one, and says it in its own words', async () => {
  await page.goto(`http://${host()}/console#/watches`);
  await button('New watch').click();
  await field('Name').fill('Back door');
  await field('Stream URL').fill(stream.url);
  await page.getByRole('img', { name: 'Current frame of the stream' }).waitFor();
  await page.getByRole('group', { name: 'Examples of conditions' }).getByRole('button').first().waitFor();
  await field('Condition').fill('The picture is not black');
  await page.locator('summary').getByText('Picture and regions', { exact: true }).click();
  await button('Add region to watch').click();
  await page.getByRole('img', { name: 'Newest frame, on which regions are drawn' }).waitFor();
  await button('Remove region 1').click();
  await button('Add destination').click();
  const address = field('Address of destination 1');
  await address.fill('ftp://example.com/topic');
  await page.locator('summary').getByText('When', { exact: true }).click();
  await field('Watch at certain times only').check();
  const zone = field('Time zone');
  await zone.fill('Mars');
  await page.locator('summary').getByText('When', { exact: true }).click();
  await button('Start watching').click();
  await expect.poll(() => zone.getAttribute('aria-invalid')).toBe('true');
  await page.locator('[aria-invalid="true"]:focus').waitFor();
  const note = page.getByRole('dialog').getByRole('alert');
  expect(await note.textContent()).toMatch(/Time zone: Use an IANA time zone/);
  await zone.fill('Europe/Berlin');
  await expect.poll(() => zone.getAttribute('aria-invalid')).toBeNull();
  await note.waitFor({ state: 'hidden' });
  await button('Start watching').click();
  await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
  expect(await note.textContent()).toMatch(/Address of destination 1: .*http/);
  expect(await page.getByRole('dialog').textContent()).not.toMatch(/destinations\[|_url|INVALID/);
  await inspect(page, 'watch-refused');
  expect(faults).toEqual([]);
}, 120_000);
