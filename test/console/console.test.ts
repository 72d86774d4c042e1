import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startLoop } from '../support/hls/looped-stream.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { inspect, phone } from './browser.ts';
import { startRecording } from './recording.ts';
import {
  browser,
  button,
  caller,
  consoleUrl,
  faults,
  field,
  link,
  page,
  service,
  signIn,
  stream,
  useConsole,
} from './use-console.ts';

useConsole();
beforeEach(async () => void (await page.goto(consoleUrl())));

/** Paths that the receiver answers with 410, which ends a delivery at its first attempt. */
const brokenPaths = new Set<string>();
let receiver: Awaited<ReturnType<typeof startReceiver>>;

beforeAll(async () => {
  receiver = await startReceiver(
    () => caller.webhookSecret,
    (path) => (brokenPaths.has(path) ? 410 : 204),
  );
});
afterAll(() => receiver.close());

/** Starts a monitor whose condition never holds. */
async function startQuietMonitor(): Promise<string> {
  const condition = 'The picture is entirely black';
  const { job_id: jobId } = await caller.call('POST', '/live-monitor', { stream_url: stream.url, condition });
  return jobId;
}

test('the sign-in rejects a wrong key with a reason and shows where to find the right one', async () => {
  await page.getByText('Where do I find my key?').click();
  await inspect(page, 'sign-in');
  // Not `color-scheme` alone: the build replaces `light-dark()` by variables.
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await ground();
  await button('Use the dark theme').click();
  expect(await ground()).not.toBe(light);
  await button('Use the light theme').click();
  expect(await ground()).toBe(light);
  await signIn('wp_wrong');
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('This key is not valid');
});

test('a valid key opens the console with the keyboard alone', async () => {
  await field('API key').focus();
  await page.keyboard.insertText(service.internalKey);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Try' }).waitFor();
  expect(page.url()).not.toContain('wp_');
  expect(
    await page.evaluate('[JSON.stringify(localStorage), sessionStorage.length, document.cookie]'),
  ).toEqual([expect.not.stringContaining('wp_'), 0, '']);
  const scopes = page.getByRole('group', { name: 'Signed in with' });
  expect(await scopes.textContent()).toContain('admin');
});

test('the keys page creates a key, shows it once, copies it and revokes it', async () => {
  // A second try finds the key and the event of the first one.
  const label = `door camera ${Date.now()}`;
  await signIn();
  await link('Keys').click();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await button('New key').click();
  await page.getByLabel('Label').fill(label);
  await button('Create key').click();
  const shown = page.getByLabel('New API key', { exact: true });
  const key = (await shown.textContent()) ?? '';
  expect(key).toMatch(/^wp_/);
  await inspect(page, 'keys-new');
  await button('Copy New API key').click();
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(key);
  await button('I have copied it').click();
  expect(await page.content()).not.toContain(key);
  const answer = await fetch(`${service.baseUrl}/jobs`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);

  await button('Show secret').click();
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Webhook signing secret' }).textContent())
    .toMatch(/^whsec_/);
  await button('Hide secret').click();
  await field('Receiver URL').fill(`${receiver.url}/test`);
  await button('Send test event').click();
  await page.getByText('delivered').waitFor();
  expect(receiver.of('/test').at(-1)).toMatchObject({ type: 'test', verified: true });
  await inspect(page, 'keys');

  await button(`Revoke ${label}`).click();
  await button('Revoke key').click();
  await expect.poll(() => page.getByRole('row', { name: label }).textContent()).toContain('revoked');
  const refused = await fetch(`${service.baseUrl}/jobs`, { headers: { authorization: `Bearer ${key}` } });
  expect(refused.status).toBe(401);
});

test('the keys page rotates a key and the signing secret with a grace period', async () => {
  await caller.call('POST', '/keys', { label: 'gate camera' });
  await signIn();
  await link('Keys').click();
  await button('Rotate gate camera', true).click();
  await button('Rotate key').click();
  expect(await page.getByLabel('New API key', { exact: true }).textContent()).toMatch(/^wp_/);
  await button('I have copied it').click();
  await page.getByRole('row', { name: /ends in/ }).waitFor();
  await button('Rotate secret').click();
  await field('Grace period of the old secret').selectOption('1 week');
  await button('Rotate the secret').click();
  await page.getByText('Version 2').waitFor();
});

test('an administrator adds a caller and creates its key', async () => {
  await signIn(service.internalKey);
  await link('Keys').click();
  await button('Add caller').click();
  await field('Name').fill('canal');
  await page.getByRole('dialog').getByRole('button', { name: 'Add caller' }).click();
  await field('Caller').selectOption('canal');
  await page.getByText('This caller has no key').waitFor();
  await button('New key').click();
  await button('Create key').click();
  await button('I have copied it').click();
  await page.getByRole('row', { name: /No label/ }).waitFor();
});

test('the try page distinguishes a recording from an unreachable stream while the URL is typed', async () => {
  const recording = await startRecording();
  await signIn();
  await field('Stream URL').fill('http://127.0.0.1:9/live.m3u8');
  const card = page.locator('.stream-card');
  await expect.poll(() => card.textContent()).toContain('Failed to fetch stream');
  await inspect(page, 'try-dead-stream');
  await field('Stream URL').fill(recording.url);
  await expect.poll(() => card.textContent()).toContain('Not live');
  recording.close();
});

test('a check with the keyboard alone shows frame, verdict, explanation, cost and the request as code', async () => {
  await signIn();
  await field('Stream URL').focus();
  await page.keyboard.insertText(stream.url);
  await page.locator('.stream-card').getByText('Live', { exact: true }).waitFor();
  await page.locator('.stream-card').getByAltText('Current frame of the stream').waitFor();
  // The button that finds a camera, the condition.
  for (let presses = 0; presses < 2; presses += 1) await page.keyboard.press('Tab');
  await page.keyboard.insertText('The picture is entirely black');
  // Three examples, the choice of the input mode, the button.
  for (let presses = 0; presses < 5; presses += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('The condition does not hold').waitFor();
  await page.getByAltText('Checked frame').waitFor();
  await page.getByText('No model cost').waitFor();
  // The model that judged, and how long it took.
  expect(await page.getByLabel('Verdict').textContent()).toMatch(/Model *objects *[\d.]+ m?s/);
  await page.getByRole('tab', { name: 'Python' }).click();
  const code = await page.getByRole('region', { name: 'Monitor in Python' }).textContent();
  expect(code).toContain(stream.url);
  expect(code).toContain("os.environ['WATCHPOST_API_KEY']");
  await inspect(page, 'try');
});

test('a monitor alerts live when the scene changes, and the keyboard opens and closes its evidence', async () => {
  brokenPaths.add('/broken');
  await signIn();
  const calm = 'color=color=0x304050:size=640x360:rate=5,noise=alls=6:allf=t';
  const changing = await startLoop(calm);
  try {
    await field('Stream URL').fill(changing.url);
    await field('Condition').fill('A red box is in the picture');
    await field('Interval (s)').fill('5');
    await field('Maximum alerts').fill('1');
    await field('Webhook URL').fill(`${receiver.url}/broken`);
    await page.getByLabel('Webhook URL').press('Enter');
    await page.getByRole('heading', { name: 'A red box is in the picture' }).waitFor();
    await page.getByText('Job started.').waitFor();
    await changing.show(`${calm},drawbox=x=200:y=90:w=220:h=160:color=red:t=fill`);
    await page.getByRole('button', { name: 'Open the evidence' }).waitFor({ timeout: 40_000 });
    await expect.poll(() => page.locator('[aria-live=assertive]').textContent()).toMatch(/Alert|ended/);
    await page.getByText('The condition held.').first().waitFor();
    await inspect(page, 'job-alert');
    await page.getByRole('button', { name: 'Open the evidence' }).press('Enter');
    await page.getByRole('dialog', { name: 'Evidence' }).getByRole('img').waitFor();
    await inspect(page, 'evidence');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
  } finally {
    await changing.close();
  }
});

test('a failed delivery shows its error and succeeds after a resend', async () => {
  brokenPaths.add('/mended');
  const { job_id: jobId } = await caller.call('POST', '/live-monitor', {
    stream_url: stream.url,
    condition: 'The picture is not black',
    webhook_url: `${receiver.url}/mended`,
  });
  await signIn();
  await page.goto(`${consoleUrl()}#/jobs/${jobId}`);
  const deliveries = page.getByRole('region', { name: 'Deliveries' });
  await deliveries.getByText('failed').first().waitFor();
  brokenPaths.delete('/mended');
  const before = receiver.of('/mended').length;
  await deliveries.getByRole('button', { name: 'Resend' }).first().click();
  await deliveries.getByText('delivered').first().waitFor();
  expect(receiver.of('/mended').length).toBeGreaterThan(before);
});

test('the job list shows a running job with its newest frame, and the job is cancelled after confirmation', async () => {
  await signIn();
  await field('Stream URL').fill(stream.url);
  await field('Condition').fill('The picture is entirely black');
  await button('Start monitor').click();
  await page.getByRole('img', { name: 'Newest frame of the stream' }).waitFor();
  await inspect(page, 'job-running');
  await link('Jobs').click();
  await expect
    .poll(() => page.getByRole('row', { name: /entirely black/ }).textContent())
    .toContain('running');
  await page.locator('.job-link img').first().waitFor();
  await inspect(page, 'jobs');
  await page.getByRole('link', { name: /entirely black/ }).click();
  await button('Cancel job').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }).click();
  await page.getByText('Cancelled', { exact: true }).first().waitFor();
});

test('a job that has ended runs again with its settings, and its duplicate opens them in the form', async () => {
  const { job_id: ended } = await caller.call('POST', '/live-monitor', {
    stream_url: stream.url,
    condition: 'The picture is entirely black',
    interval_seconds: 7,
    labels: ['gate'],
  });
  await caller.call('DELETE', `/jobs/${ended}`);
  await signIn();
  await page.goto(`${consoleUrl()}#/jobs/${ended}`);
  await button('Run again').click();
  await button('Cancel job').waitFor();
  const again = new URL(page.url()).hash.replace('#/jobs/', '');
  expect(again).not.toBe(ended);
  expect(await caller.call('GET', `/jobs/${again}`)).toMatchObject({
    status: expect.stringMatching(/pending|running/),
    config: { condition: 'The picture is entirely black', interval_seconds: 7, labels: ['gate'] },
  });

  await page.goto(`${consoleUrl()}#/jobs/${ended}`);
  await button('Duplicate').click();
  await expect.poll(() => field('Condition').inputValue()).toBe('The picture is entirely black');
  expect(await field('Stream URL').inputValue()).toBe(stream.url);
  expect(await field('Interval (s)').inputValue()).toBe('7');
});

test('the same form starts a digest, its summary shows the frames, and the job list counts it below', async () => {
  await signIn();
  await field('Stream URL').fill(stream.url);
  await page.getByRole('radio', { name: 'Digest' }).check();
  await field('Window (min)').fill('1');
  await button('Start digest').click();
  await page.getByRole('heading', { name: 'Digest every 1 min' }).waitFor();
  await page.getByText('This picture goes into the summary').waitFor();
  await button('Cancel job').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }).click();
  await page.getByText('Window 1').waitFor();
  await inspect(page, 'job-digest');
  await button('Show frames').click();
  await page.getByRole('dialog').locator('img').waitFor();
  await page.keyboard.press('Escape');
  await link('Jobs').click();
  await expect
    .poll(() => page.getByRole('row', { name: /Digest every 1 min/ }).innerText())
    .toContain('1\nsummary');
});

test('a banner reports a lost connection, and the page updates automatically after it returns', async () => {
  await startQuietMonitor();
  await signIn();
  await page.getByRole('heading', { name: 'Try' }).waitFor();
  await page.context().setOffline(true);
  await link('Jobs').click();
  await page.getByText('Watchpost cannot be reached').waitFor();
  await page.context().setOffline(false);
  await page.getByText('Watchpost cannot be reached').waitFor({ state: 'hidden' });
  await page.getByRole('row', { name: /entirely black/ }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole('link', { name: /entirely black/ }).click();
  await page.getByText('Watchpost cannot be reached').first().waitFor();
  await page.context().setOffline(false);
  await page.getByText('Job started.').waitFor();
  // Ignores the browser's reports of the failed requests.
  const others = faults.filter((fault) => !fault.includes('net::ERR_INTERNET_DISCONNECTED'));
  faults.splice(0, faults.length, ...others);
});

test('the operations page shows metrics and log of the service', async () => {
  await startQuietMonitor();
  await signIn(service.internalKey);
  await link('Operations').click();
  await page.getByText('Pre-filter savings').waitFor();
  await page.getByRole('row', { name: /^objects/ }).waitFor();
  await page.getByRole('list', { name: /Log entries/ }).waitFor();
  await page.getByText('this one-machine service has none').waitFor();
  await inspect(page, 'operations');
  await field('Job or watch').fill('ffffffff');
  await page.getByText('No matching entries').waitFor();
});

test('one sign-in opens every tab and page of the device, until it signs out', async () => {
  await signIn();
  await link('Keys').waitFor();
  await page.goto(`${consoleUrl()}#/keys`);
  await page.reload();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  expect(await page.getByRole('link', { name: 'Operations' }).count()).toBe(0);
  await page.goto(`${consoleUrl()}#/operations`);
  await page.getByText('This key has no access to this page').waitFor();
  const other = await page.context().newPage();
  await other.goto(`${consoleUrl()}#/keys`);
  await other.getByRole('heading', { name: 'API keys' }).waitFor();
  await other.getByRole('button', { name: 'Sign out' }).click();
  await field('API key').waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await other.close();
  await page.reload();
  await field('API key').waitFor();
});

test('a QR code signs a telephone in once, without the key, until its key is revoked', async () => {
  await signIn();
  await link('Keys').click();
  await button('Sign in a telephone').click();
  await page.getByText('A telephone cannot reach').waitFor();
  await inspect(page, 'keys-telephone');
  await page.getByRole('radio', { name: 'Look', exact: true }).check();
  await button('Show code').click();
  await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
  await inspect(page, 'keys-code');
  await button('Copy Link').click();
  const address = String(await page.evaluate('navigator.clipboard.readText()'));
  expect(address).toContain(`${consoleUrl()}#/sign-in/`);

  const context = await browser.newContext({ viewport: phone });
  const telephone = await context.newPage();
  await telephone.goto(address);
  await telephone.getByRole('button', { name: 'Sign in on this device' }).click();
  await telephone.getByRole('heading', { name: 'Watches' }).waitFor();
  expect(telephone.url()).toBe(`${consoleUrl()}#/watches`);
  await telephone.reload();
  await telephone.getByRole('heading', { name: 'Watches' }).waitFor();
  expect(await telephone.getByRole('link', { name: 'Keys' }).count()).toBe(0);

  await page.getByText('The device is signed in').waitFor();
  await button('Done').click();
  const again = await page.context().newPage();
  await again.goto(address);
  await again.getByRole('button', { name: 'Sign in on this device' }).click();
  await again.getByText('This link was used or has expired').waitFor();
  await again.getByRole('button', { name: 'Stay signed in as before' }).click();
  await again.getByRole('heading', { name: 'Watches' }).waitFor();
  await again.close();

  const { keys } = await caller.call('GET', '/keys');
  const { key_id: id } = keys.find((key: { label: string }) => key.label.startsWith('Telephone, '));
  await caller.call('DELETE', `/keys/${id}`);
  await telephone.reload();
  await telephone.getByText('Your key is no longer accepted').waitFor();
  await context.close();
});

test('the console returns to the sign-in when its key is revoked elsewhere', async () => {
  const { job_id: jobId } = await caller.call('POST', '/live-digest', { stream_url: stream.url });
  await caller.call('DELETE', `/jobs/${jobId}`);
  const made = await caller.call('POST', '/keys', { label: 'short-lived' });
  await signIn(made.key);
  await link('Jobs').click();
  await page.getByRole('row', { name: /Digest every/ }).waitFor();
  await inspect(page, 'jobs-ended');
  await field('Status').selectOption('Failed');
  await page.getByText('No job matches these filters').waitFor();
  await inspect(page, 'jobs-none');
  await caller.call('DELETE', `/keys/${made.key_id}`);
  await page.getByText('Your key is no longer accepted').waitFor();
});

test('a failed check of the service is a banner with the next step', async () => {
  const check = { check: 'model', status: 'failed', message: 'openai, llava: does not answer' };
  await page.route('**/healthz?deep', (route) =>
    route.fulfill({ json: { status: 'failed', checks: [{ ...check, next: 'Check its URL.' }] } }),
  );
  await signIn();
  await page.getByText('model: openai, llava: does not answer. Check its URL.').waitFor();
});
