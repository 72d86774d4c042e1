import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { login, startSimulator } from '../support/onvif/simulator.ts';
import { inspect } from './browser.ts';
import {
  button,
  caller,
  dataDir,
  faults,
  field,
  host,
  openEmptyPage,
  page,
  signInAt,
  stream,
  useConsole,
} from './use-console.ts';

useConsole();

test('the try page advises on a condition while it is typed, takes over its wording, and draws boxes over the frame', async () => {
  await signInAt('');
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
  await button('Check now').click();
  await page.getByText('Boxes: boat 0.70').waitFor();
  const picture = (await page.getByAltText('Checked frame').boundingBox())!;
  const drawn = (await page.locator('.boxed-picture rect.ground').boundingBox())!;
  expect((drawn.x + drawn.width / 2 - picture.x) / picture.width).toBeCloseTo(0.5, 1);
  expect((drawn.y + drawn.height / 2 - picture.y) / picture.height).toBeCloseTo(0.625, 1);
  await inspect(page, 'try-boxes');

  await button('Walk test').click();
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
  await button('Start again').waitFor();
});

test('the try page finds a camera, reads its streams with a password, and fills in the chosen one', async () => {
  const camera = await startSimulator({ access: 'http' });
  onTestFinished(camera.close);
  // The simulator has a port of its own for probes, so the list comes from here and the streams from the service.
  await page.route('**/api/cameras', async (route) =>
    route.fulfill({
      json: { cameras: [{ address: camera.address, name: 'Yard camera', hardware: 'SIM-1' }] },
    }),
  );
  await signInAt('');
  await button('Find a camera').click();
  await button('Yard camera').click();
  await field('User name').fill(login.username);
  await field('Password').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('The camera refused the user name or password').waitFor();
  await field('Password').fill(login.password);
  await button('Read streams').click();
  const found = button('Use main · H265 · 2560×1440');
  await found.waitFor();
  await button('Use snapshots · main').waitFor();
  await inspect(page, 'try-camera');
  await found.click();
  await expect
    .poll(() => field('Stream URL').inputValue())
    .toBe(
      `rtsp://${login.username}:${encodeURIComponent(login.password)}@127.0.0.1:8554/live?channel=1&stream=2`,
    );
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
});

test('the board says what the model was not sure of today, and what helps', async () => {
  const { watch_id: watchId, conditions } = await caller.call('POST', '/watches', {
    name: 'South gate',
    stream_url: stream.url,
    conditions: [{ condition: 'A car is at the gate' }],
  });
  await page.route('**/api/watches/*/stats?*', async (route) => {
    const response = await route.fetch();
    const stats = await response.json();
    const day = new Date().toISOString().slice(0, 10);
    const unsure = { day, unsure_sightings: { [conditions[0].condition_id]: 12 } };
    await route.fulfill({ response, json: { ...stats, days: [unsure] } });
  });
  await signInAt('#/watches');
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'South gate' }) });
  await card.getByText('If they are right, try sensitivity high, or aim lower.').waitFor();
  await inspect(page, 'watches-unsure');
  const moment = (id: string, explanation: string) => ({
    moment_id: id,
    watch_id: watchId,
    at: new Date().toISOString(),
    verdicts: [{ condition_id: conditions[0].condition_id, triggered: false, explanation }],
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
});

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
  await signInAt('#/search');
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
});

test('a refused form marks its fields until they are changed, also a folded one, and says it in its own words', async () => {
  await signInAt('#/watches');
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
  await address.fill('https://example.com/topic');
  // A service that makes no clips refuses both of their numbers as one field.
  await page.route(/\/api\/watches/, (route) =>
    route.fulfill({
      status: 422,
      json: { detail: [{ loc: ['body', 'evidence_clip'], msg: 'no clips here', type: 'unserved_field' }] },
    }),
  );
  const film = page.getByLabel('Film each alert');
  await page.locator('summary').getByText('Cost', { exact: true }).click();
  for (const mend of [() => film.uncheck(), () => field('Clip after it (s)').fill('9')]) {
    await button('Start watching').click();
    await expect.poll(() => film.getAttribute('aria-invalid')).toBe('true');
    await page.locator('[aria-invalid="true"]:focus').waitFor();
    expect(await note.textContent()).toMatch(/Film each alert: No clips here\./);
    await mend();
    await expect.poll(() => film.getAttribute('aria-invalid')).toBeNull();
    await note.waitFor({ state: 'hidden' });
  }
});

test('the reference page shows every group of operations without errors or requests to other hosts', async () => {
  await page.goto(`http://${host()}/docs`);
  await page.locator('.opblock').first().waitFor();
  for (const path of ['/check-once', '/live-monitor', '/jobs/{job_id}/events', '/keys'])
    expect(await page.locator('.opblock-summary-path', { hasText: path }).count(), path).toBeGreaterThan(0);
  await page.locator('.opblock-summary', { hasText: '/check-once' }).click();
  await page.locator('.opblock.is-open').waitFor();
});

test('a set is labelled with the keyboard alone, with undo and progress, and each label is in the file', async () => {
  const folder = join(dataDir, 'labelled-set');
  const file = join(folder, 'set.jsonl');
  const examples = ['red-wall', 'blue-wall', 'green-field'].map((name) => {
    cpSync(`cli/evaluate/basic-set/${name}.jpg`, join(folder, `${name}.jpg`));
    const verdict = { triggered: true, explanation: 'Red covers the frame.' };
    return JSON.stringify({ picture: `${name}.jpg`, condition: 'The wall is red.', expected: null, verdict });
  });
  writeFileSync(file, `${examples.join('\n')}\n`);
  const labels = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).expected);
  const label = spawn(process.execPath, ['cli/watchpost.ts', 'label', folder, '--label-port', '0']);
  onTestFinished(async () => {
    label.kill('SIGTERM');
    await once(label, 'exit');
  });
  const [printed] = await once(label.stdout, 'data');
  const [address = ''] = /http:\S+/.exec(String(printed)) ?? [];
  await openEmptyPage(new URL(address).host);
  await page.goto(address);
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
  await expect.poll(labels).toEqual(['yes', 'no', 'unclear']);
  await page.getByLabel('Show the verdict of the model').check();
  await page.getByText('Red covers the frame.').waitFor();
  await inspect(page, 'label-done');
  await page.getByRole('button', { name: 'No', exact: false }).first().click();
  await expect.poll(labels).toEqual(['yes', 'no', 'no']);
  await page.reload();
  await page.getByText('3 of 3 labelled').waitFor();
  expect(faults).toEqual([]);
  // The page leaves for the service.
  await openEmptyPage(host());
});
