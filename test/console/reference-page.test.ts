import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { startService, type ServiceProcess } from '../support/service-process.ts';
import { launch, openPage } from './browser.ts';
import { folderOfFile } from '../support/temporary-folder.ts';

const dataDir = folderOfFile();
let service: ServiceProcess;
let browser: Browser;

beforeAll(async () => {
  [service, browser] = await Promise.all([startService(dataDir), launch()]);
});
afterAll(async () => {
  await browser.close();
  await service.kill('SIGTERM');
});

test('the reference page shows every group of operations without errors or requests to other hosts', async () => {
  const { host } = new URL(service.baseUrl);
  const { page, faults } = await openPage(browser, host);
  await page.goto(`http://${host}/docs`);
  await page.locator('.opblock').first().waitFor();
  for (const path of ['/check-once', '/live-monitor', '/jobs/{job_id}/events', '/keys'])
    expect(await page.locator('.opblock-summary-path', { hasText: path }).count(), path).toBeGreaterThan(0);
  await page.locator('.opblock-summary', { hasText: '/check-once' }).click();
  await page.locator('.opblock.is-open').waitFor();
  expect(faults).toEqual([]);
}, 90_000);
