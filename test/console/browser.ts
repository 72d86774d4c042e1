import { mkdirSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Debian's Chromium; `test/support/packages.ts` brings it. */
const executablePath = process.env['WATCHPOST_CHROMIUM'] ?? '/usr/bin/chromium';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const desk = { width: 1280, height: 860 };
export const phone = { width: 390, height: 844 };

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath, args: flags });
}

export type WatchedPage = {
  page: Page;
  /** What a page must never do: errors, violations of its policy, requests to other hosts. */
  faults: string[];
};

/** A page whose every fault is noted. `host` is the only one that it may ask for anything. */
export async function openPage(browser: Browser, host: string): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: desk, colorScheme: 'light' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !isAnswer(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'blob:' && url.host !== host) faults.push(`request: ${request.url()}`);
    if (url.href.includes('wp_')) faults.push(`key in a URL: ${url.href}`);
  });
  page.setDefaultTimeout(30_000);
  return { page, faults };
}

/** Chromium reports each answer of 400 and more as an error; those are the API's, and the tests look at what is made of them. */
function isAnswer(text: string): boolean {
  return /Failed to load resource: the server responded with a status of (400|401|403|404|422)/.test(text);
}

/** What follows a change of size is drawn. As text, since the tests are compiled without the browser's types. */
const twoFrames = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

const folder = 'test-output/screenshots';

/** The page in both themes and on a phone: pictures of it, no serious finding of axe, and nothing that scrolls sideways. */
export async function inspect(page: Page, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await shoot(page, `${name}-${colorScheme}`, desk);
    expect(await seriousFindings(page, colorScheme), `axe, ${name}, ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await shoot(page, `${name}-390`, phone);
  const width = await page.evaluate('document.documentElement.scrollWidth');
  expect(width, `width of ${name} on a phone`).toBeLessThanOrEqual(phone.width);
  await page.setViewportSize(desk);
}

/** A window as tall as the page, so that what is fixed to its edges is there; a dialog covers what is seen, not the page. */
async function shoot(page: Page, name: string, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size);
  await page.evaluate(twoFrames);
  if ((await page.getByRole('dialog').count()) === 0) {
    const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
    await page.setViewportSize({ width: size.width, height: Math.max(size.height, height) });
    await page.evaluate(twoFrames);
  }
  // A first picture makes Chromium draw anew what a change of theme has left in its tiles.
  await page.screenshot();
  await page.screenshot({ path: `${folder}/${name}.png` });
}

/** In the dark only colours are another matter than in the light. */
async function seriousFindings(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  // Without legacy mode each analysis opens a page of its own, for frames in frames, which there are none of.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  if (colorScheme === 'dark') axe.withRules(['color-contrast']);
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
    );
}
