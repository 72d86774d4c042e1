import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startLoop, type LoopedStream } from '../support/hls/looped-stream.ts';
import { startService, type ServiceProcess } from '../support/service-process.ts';
import { login, startSimulator } from '../support/onvif/simulator.ts';
import { inspect, launch, openPage } from './browser.ts';
import { folderOfFile } from '../support/temporary-folder.ts';

const dataDir = folderOfFile();
let service: ServiceProcess;
let stream: LoopedStream;
let browser: Browser;

beforeAll(async () => {
  [service, stream, browser] = await Promise.all([
    startService(dataDir),
    startLoop('testsrc2=size=640x360:rate=5'),
    launch(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await stream.close();
  await service.kill('SIGTERM');
});

test('the try page advises on a condition while it is typed, takes over its wording, and draws boxes over the frame', async () => {
  const { host } = new URL(service.baseUrl);
  const { page, faults } = await openPage(browser, host);
  await page.goto(`http://${host}/console`);
  const field = (label: string) => page.getByLabel(label, { exact: true });
  await field('API key').fill(service.apiKey);
  await page.keyboard.press('Enter');
  await field('Stream URL').fill(stream.url);
  await field('Condition').fill('Alert me if the picture is black');
  const advice = page.getByLabel('Advice on the condition');
  await advice.getByText('not a request').waitFor();
  await inspect(page, 'try-advice');
  await advice.getByRole('button', { name: 'Use “The picture is black' }).click();
  await expect.poll(() => field('Condition').inputValue()).toMatch(/^The picture is black/);
  await expect.poll(() => advice.textContent()).toBe('');
  const boxes = [{ label: 'boat', score: 0.7, x: 0.25, y: 0.5, width: 0.5, height: 0.25 }];
  await page.route('**/api/check-once', async (route) => {
    const response = await route.fetch();
    const headers = { ...response.headers(), 'watchpost-boxes': JSON.stringify(boxes) };
    await route.fulfill({ response, headers });
  });
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText('Boxes: boat 0.70').waitFor();
  const picture = (await page.getByAltText('Checked frame').boundingBox())!;
  const drawn = (await page.locator('.boxed-picture rect.ground').boundingBox())!;
  expect((drawn.x + drawn.width / 2 - picture.x) / picture.width).toBeCloseTo(0.5, 1);
  expect((drawn.y + drawn.height / 2 - picture.y) / picture.height).toBeCloseTo(0.625, 1);
  await inspect(page, 'try-boxes');

  await page.getByRole('button', { name: 'Walk test' }).click();
  const scores = page.getByRole('list', { name: 'Scores' });
  await scores.getByText(/^(?:Not seen|Seen in \d) .*with motion/).waitFor();
  await page.getByText('Boxes: boat 0.70').waitFor();
  await page.getByRole('progressbar', { name: 'Progress of the walk test' }).waitFor();
  await inspect(page, 'try-walk');
  await page.route('**/api/check-once', async (route) => {
    const error = { code: 'RATE_LIMITED', message: 'Too many calls', remediation: 'Wait a minute' };
    await route.fulfill({ status: 429, json: { error } });
  });
  await page.getByText('Too many calls').waitFor();
  await page.getByRole('status').getByText('The walk test has ended.').waitFor();
  await page.getByRole('button', { name: 'Start again' }).waitFor();
  expect(faults).toEqual([]);
}, 90_000);

test('the try page finds a camera, reads its streams with a password, and fills in the chosen one', async () => {
  const camera = await startSimulator({ access: 'http' });
  onTestFinished(camera.close);
  const { host } = new URL(service.baseUrl);
  const { page, faults } = await openPage(browser, host);
  // The simulator has a port of its own for probes, so the list comes from here and the streams from the service.
  await page.route('**/api/cameras', async (route) =>
    route.fulfill({
      json: { cameras: [{ address: camera.address, name: 'Yard camera', hardware: 'SIM-1' }] },
    }),
  );
  await page.goto(`http://${host}/console`);
  const field = (label: string) => page.getByLabel(label, { exact: true });
  await field('API key').fill(service.apiKey);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Find a camera' }).click();
  await page.getByRole('button', { name: 'Yard camera' }).click();
  await field('User name').fill(login.username);
  await field('Password').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('The camera refused the user name or password').waitFor();
  await field('Password').fill(login.password);
  await page.getByRole('button', { name: 'Read streams' }).click();
  const stream = page.getByRole('button', { name: 'Use main · H265 · 2560×1440' });
  await stream.waitFor();
  await page.getByRole('button', { name: 'Use snapshots · main' }).waitFor();
  await inspect(page, 'try-camera');
  await stream.click();
  await expect
    .poll(() => field('Stream URL').inputValue())
    .toBe(
      `rtsp://${login.username}:${encodeURIComponent(login.password)}@127.0.0.1:8554/live?channel=1&stream=2`,
    );
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  expect(faults).toEqual([]);
}, 60_000);

test('the board says what the model was not sure of today, and what helps', async () => {
  const made = await fetch(`${service.baseUrl}/watches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'South gate',
      stream_url: stream.url,
      conditions: [{ condition: 'A car is at the gate' }],
    }),
  });
  const { watch_id: watchId, conditions } = (await made.json()) as {
    watch_id: string;
    conditions: { condition_id: string }[];
  };
  const { host } = new URL(service.baseUrl);
  const { page, faults } = await openPage(browser, host);
  await page.route('**/api/watches/*/stats?*', async (route) => {
    const response = await route.fetch();
    const stats = await response.json();
    const day = new Date().toISOString().slice(0, 10);
    const unsure = { day, unsure_sightings: { [conditions[0]!.condition_id]: 12 } };
    await route.fulfill({ response, json: { ...stats, days: [unsure] } });
  });
  await page.goto(`http://${host}/console#/watches`);
  await page.getByLabel('API key', { exact: true }).fill(service.apiKey);
  await page.keyboard.press('Enter');
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'South gate' }) });
  await card.getByText('If they are right, try sensitivity high, or aim lower.').waitFor();
  await inspect(page, 'watches-unsure');
  const moment = (id: string, explanation: string) => ({
    moment_id: id,
    watch_id: watchId,
    at: new Date().toISOString(),
    verdicts: [{ condition_id: conditions[0]!.condition_id, triggered: false, explanation }],
    judged_by: 'objects',
    picture_url: null,
  });
  const moments = [moment('a', 'Looks like perhaps 1 car (0.22).'), moment('b', 'Looks like no car.')];
  await page.route('**/api/moments?*', (route) =>
    route.fulfill({ json: { moments, next_after: null, watched: null, pictures_kept_from: null } }),
  );
  await card.getByRole('button', { name: '12 unsure sightings today' }).press('Enter');
  const sightings = page.getByRole('list', { name: 'Unsure sightings' });
  await sightings.getByText('Looks like perhaps 1 car').first().waitFor();
  expect(await sightings.getByRole('listitem').count()).toBe(1);
  expect(faults).toEqual([]);
}, 60_000);
