import { mkdirSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium, type Browser, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { chromiumPath } from '../support/runner/chromium.ts';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-audio-output',
];

export const desk = { width: 1280, height: 860 };
export const phone = { width: 390, height: 844 };

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: flags });
}

export type WatchedPage = {
  page: Page;
  /** Faults of the page: errors, policy violations, requests to other hosts. */
  faults: string[];
};

/** Page of each browser. A page of its own for each test is a second of processor time for its processes. */
const pages = new WeakMap<Browser, Page>();

/** Opens the empty page of a browser and records its faults. Requests to any host but `host` are faults. */
export async function openPage(browser: Browser, host: string): Promise<WatchedPage> {
  const page = pages.get(browser) ?? (await newPage(browser));
  pages.set(browser, page);
  page.removeAllListeners();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.context().setOffline(false);
  await leave(page, host);
  await page.evaluate('localStorage.clear()');
  await page.context().clearCookies();
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
  return { page, faults };
}

/** Leaves the console for a page of the same host, which needs no other process. */
export async function leave(page: Page, host: string): Promise<void> {
  await page.goto(`http://${host}/healthz`);
}

async function newPage(browser: Browser): Promise<Page> {
  // An animation without an end redraws the page sixty times a second: more processor time than all of its tests.
  const context = await browser.newContext({ viewport: desk, colorScheme: 'light', reducedMotion: 'reduce' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  return page;
}

/**
 * Returns true for Chromium's report of a 4xx response. The tests check the message that the console derives from it.
 */
function isAnswer(text: string): boolean {
  return /Failed to load resource: the server responded with a status of (400|401|403|404|412|422|429)/.test(
    text,
  );
}

/**
 * Waits until a change is drawn, and its transitions have ended; one that Chromium does not run for a second is not
 * awaited. Text, because the tests are compiled without the types of the browser.
 */
const whenDrawn = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() => Promise.race([
  new Promise((resolve) => setTimeout(resolve, 1000)),
  Promise.allSettled(document.getAnimations().filter((each) => each instanceof CSSTransition).map((each) => each.finished)),
]))`;

/** Waits until a change is drawn. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(`${whenDrawn}.then(() => 0)`);
}

const folder = 'test-output/screenshots';
/** Screenshots take half of the processor time of these tests, and find nothing by themselves: on request. */
const savesScreenshots = process.env['WATCHPOST_SCREENSHOTS'] === '1';

/**
 * Inspects the page in both themes and on a phone: requires no serious axe finding and no overflow, and saves
 * screenshots on request.
 */
export async function inspect(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await drawn(page);
    await shoot(page, `${name}-${colorScheme}`, desk);
    expect(await seriousFindings(page, colorScheme), `axe, ${name}, ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize(phone);
  await drawn(page);
  await shoot(page, `${name}-390`, phone);
  const width = await page.evaluate('document.documentElement.scrollWidth');
  expect(width, `width of ${name} on a phone`).toBeLessThanOrEqual(phone.width);
  await page.setViewportSize(desk);
}

/**
 * Saves a screenshot of the whole page, or of the viewport if a dialog is open, since dialogs cover only the viewport.
 */
async function shoot(page: Page, name: string, size: { width: number; height: number }): Promise<void> {
  if (!savesScreenshots) return;
  mkdirSync(folder, { recursive: true });
  if ((await page.getByRole('dialog').count()) === 0) {
    const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
    await page.setViewportSize({ width: size.width, height: Math.max(size.height, height) });
    await drawn(page);
  }
  // The first screenshot makes Chromium redraw tiles of the previous theme.
  await page.screenshot();
  await page.screenshot({ path: `${folder}/${name}.png` });
}

/**
 * Returns serious and critical axe findings. The dark theme differs only in colors, so only contrast is checked there.
 */
async function seriousFindings(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  const isThere = (await page.evaluate('typeof axe')) === 'object';
  // Without legacy mode, each analysis opens another page for nested frames, which the console does not have.
  const axe = new AxeBuilder({ page, ...(isThere && { axeSource: '0' }) })
    .setLegacyMode()
    // The rule on regions takes a fifth of the time, and its findings are moderate.
    .options({ resultTypes: ['violations'], rules: { region: { enabled: false } } });
  if (colorScheme === 'dark') axe.withRules(['color-contrast']);
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
    );
}
