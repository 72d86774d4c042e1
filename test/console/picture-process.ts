import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { startLiveHls } from '../../cli/demo/live-hls.ts';
import { sceneArguments } from '../../cli/demo/scene.ts';
import { chromiumPath } from '../support/runner/chromium.ts';
import { startService } from '../support/service-process.ts';

/**
 * Writes the picture of the console in README.md: a watch with the object model on the stream of `npm run stream`,
 * after some alerts. `npm run generate -- picture`, after `npm run prepare`; takes three minutes and needs Chromium and
 * ffmpeg. Loopback only.
 */
const file = 'docs/use/console.png';
const size = { width: 1280, height: 860 };
const roundSeconds = 40;
const maxSeconds = 600;

const dataDir = mkdtempSync(join(tmpdir(), 'watchpost-picture-'));
await using cleanup = new AsyncDisposableStack();
cleanup.defer(() => rmSync(dataDir, { recursive: true, force: true }));
const stream = await startLiveHls({
  ffmpegPath: process.env['WATCHPOST_FFMPEG'] ?? 'ffmpeg',
  inputArgs: sceneArguments({ signAfterSeconds: roundSeconds / 2, roundSeconds, startsAt: new Date() }),
  segmentSeconds: 1,
  host: '127.0.0.1',
});
cleanup.defer(() => stream.close());
const service = await startService(dataDir, { WATCHPOST_VISION: 'objects' }, 120);
cleanup.defer(async () => void (await service.kill('SIGTERM')));

const { status, body } = await service.call('POST', '/watches', {
  name: 'Yard',
  stream_url: stream.url,
  interval_seconds: 5,
  conditions: [
    {
      condition: 'A red stop sign is in the yard',
      severity: 'critical',
      checks_to_open: 1,
      checks_considered: 1,
      checks_to_close: 1,
    },
  ],
});
if (status >= 300) throw new Error(`The watch was not created: ${JSON.stringify(body)}`);
await waitForAlerts();

const browser = await chromium.launch({
  executablePath: chromiumPath(),
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
});
cleanup.defer(() => browser.close());
const page = await browser.newPage({ viewport: size, colorScheme: 'light' });
page.setDefaultTimeout(60_000);
await page.goto(`http://${new URL(service.baseUrl).host}/console`);
await page.getByLabel('API key', { exact: true }).fill(service.apiKey);
await page.keyboard.press('Enter');
await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Watches' }).click();
await page.getByRole('list', { name: 'Watches' }).getByRole('link', { name: 'Yard' }).click();
await page.getByRole('img', { name: 'Newest frame of the stream' }).waitFor();
await page.getByRole('list', { name: 'Alerts' }).getByRole('img').first().waitFor();
await page.screenshot();
await page.screenshot({ path: file });
process.stdout.write(`${file} is written.\n`);

/** Waits until an alert is open and another one has closed. */
async function waitForAlerts(): Promise<void> {
  for (const until = Date.now() + maxSeconds * 1000; Date.now() < until; await sleep(500)) {
    const { body: answer } = await service.call('GET', '/alerts');
    const states: string[] = answer.alerts.map(({ state }: { state: string }) => state);
    if (states.includes('open') && states.includes('closed')) return;
  }
  throw new Error(`No alert opened and closed within ${maxSeconds} s`);
}
