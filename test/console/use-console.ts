import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { startLoop, type LoopedStream } from '../support/hls/looped-stream.ts';
import { startService, type ServiceProcess } from '../support/service-process.ts';
import { folderOfFile } from '../support/temporary-folder.ts';
import { launch, leave, openPage } from './browser.ts';

/** Caller of the service with a key for the console. */
type Caller = { key: string; webhookSecret: string; call: ReturnType<typeof callWith> };

export let dataDir: string;
export let service: ServiceProcess;
export let stream: LoopedStream;
export let browser: Browser;
export let page: Page;
export let faults: string[];
export let caller: Caller;

/**
 * Gives the tests of a file the service as a process, a live stream and a real browser, and each of
 * them an empty page and a caller of its own. A test fails by a fault of its page.
 */
export function useConsole(): void {
  dataDir = folderOfFile();
  beforeAll(async () => {
    [service, stream, browser] = await Promise.all([
      startService(dataDir),
      startLoop('testsrc2=size=640x360:rate=5'),
      launch(),
    ]);
  });
  beforeEach(async () => {
    caller = await createCaller(service);
    await openEmptyPage(host());
  });
  afterEach(async () => {
    await leave(page, host());
    await eraseWork(caller);
    expect(faults).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await stream.close();
    await service.kill('SIGTERM');
  });
}

/** Opens an empty page, whose requests go to `allowed` only. */
export async function openEmptyPage(allowed: string): Promise<void> {
  ({ page, faults } = await openPage(browser, allowed));
}

export const host = () => new URL(service.baseUrl).host;
export const consoleUrl = () => `http://${host()}/console`;

export const field = (label: string) => page.getByLabel(label, { exact: true });
export const button = (name: string, exact = false) => page.getByRole('button', { name, exact });
export const link = (name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name });

/** Signs in on the page that is open. */
export async function signIn(key = caller.key): Promise<void> {
  await field('API key').fill(key);
  await page.keyboard.press('Enter');
}

/** Opens a page of the console and signs in. */
export async function signInAt(hash: string): Promise<void> {
  await page.goto(`${consoleUrl()}${hash}`);
  await signIn();
}

type Service = Pick<ServiceProcess, 'baseUrl' | 'internalKey'>;

function callWith({ baseUrl }: Service, key: string) {
  return async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
}

/** Creates a caller of its own for a test. */
async function createCaller(ofService: Service): Promise<Caller> {
  const asAdmin = callWith(ofService, ofService.internalKey);
  const name = randomUUID();
  await asAdmin('POST', '/callers', { caller: name });
  const { key } = await asAdmin('POST', '/keys', {
    caller: name,
    label: 'signed in',
    scopes: ['jobs', 'keys'],
  });
  const call = callWith(ofService, key);
  const { secret } = await call('GET', '/webhook-secret');
  return { key, webhookSecret: secret, call };
}

/** Cancels the jobs and deletes the watches of a caller. */
async function eraseWork({ call }: Caller): Promise<void> {
  const [{ jobs }, { watches }] = await Promise.all([call('GET', '/jobs'), call('GET', '/watches')]);
  for (const { job_id: jobId, status } of jobs)
    if (status === 'pending' || status === 'running') await call('DELETE', `/jobs/${jobId}`);
  for (const { watch_id: watchId } of watches) await call('DELETE', `/watches/${watchId}`);
}
