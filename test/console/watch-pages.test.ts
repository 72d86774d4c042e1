import { expect, onTestFinished, test } from 'vitest';
import { startReceiver } from '../support/servers/receiver.ts';
import { drawn, inspect } from './browser.ts';
import { button, caller, faults, field, link, page, signInAt, stream, useConsole } from './use-console.ts';

useConsole();

test('a watch is created from Try, its alert opens and is reviewed by keyboard, and the watch is edited and paused', async () => {
  await signInAt('');
  await field('Stream URL').fill(stream.url);
  await field('Condition').fill('The picture is not black');
  await field('Interval (s)').fill('5');
  await button('Keep watching for good').click();
  const dialog = page.getByRole('dialog');
  await field('Name').fill('The picture is not black');
  await dialog.getByText('Nobody: alerts are shown in the console only.').waitFor();
  await dialog.getByText('Why is e-mail not in the list?').click();
  await dialog.getByText('WATCHPOST_SMTP_URL').waitFor();
  await inspect(page, 'watch-new');
  await button('Start watching').click();
  await page.getByRole('heading', { name: 'The picture is not black', level: 1 }).waitFor();
  const alerts = page.getByRole('list', { name: 'Alerts' });
  await alerts.getByText(/open for/).waitFor({ timeout: 60_000 });
  await alerts.getByRole('img', { name: 'Evidence frame' }).waitFor();
  await page.getByText('1 opened in 7 days').waitFor();
  await page.getByRole('region', { name: 'Time line' }).locator('path.open').waitFor({ state: 'attached' });
  await page.getByRole('list', { name: 'Recent checks' }).getByText(/holds/).first().waitFor();
  await inspect(page, 'watch');
  await button('Check now').click();
  await page.getByRole('dialog').getByText('holds', { exact: true }).waitFor();
  await inspect(page, 'watch-preview');
  await page.keyboard.press('Escape');
  await button('Walk test').click();
  await page
    .getByRole('list', { name: 'Scores' })
    .getByText(/with motion/)
    .waitFor();
  await inspect(page, 'watch-walk');
  await button('Stop').click();
  await page.getByRole('status').getByText('The walk test has ended.').waitFor();
  await page.keyboard.press('Escape');
  await button('Snooze', true).click();
  await button('Start snooze').click();
  await page.getByText(/Snoozed until/).waitFor();
  await button('End snooze').click();
  await page.getByText(/Snoozed until/).waitFor({ state: 'hidden' });
  await page.locator('path.snoozed').waitFor({ state: 'attached' });

  await link('Watches').click();
  const board = page.getByRole('list', { name: 'Watches' });
  await board.getByText('1 open alert').waitFor();
  await board.getByText(/Coverage of the day/).waitFor();
  await board.locator('img').waitFor();
  await inspect(page, 'watches');

  await link('Time line').click();
  const slider = page.getByRole('slider');
  await slider.press('ArrowLeft');
  const said = () => slider.getAttribute('aria-valuetext');
  await expect.poll(said).toMatch(/^The picture is not black, .* Alert: The picture is not black\./);
  await page.getByRole('img', { name: /^Evidence: / }).waitFor();
  await slider.press('Enter');
  await expect.poll(() => page.getByRole('radio', { name: 'Hour' }).isChecked()).toBe(true);
  // A later check draws the lane again.
  const pointAtJudged = async () => {
    const judged = await page.locator('path.judged').last().boundingBox();
    if (judged) await page.mouse.move(judged.x + judged.width - 1, judged.y + judged.height * 0.8);
    return said();
  };
  await expect.poll(pointAtJudged).toContain('Judged: the model looked.');
  await inspect(page, 'time-line');
  await slider.press('Backspace');
  await expect.poll(() => page.getByRole('radio', { name: 'Day' }).isChecked()).toBe(true);
  await page.locator('svg.lane').hover({ position: { x: 3, y: 10 } });
  await expect.poll(said).toContain('Not watched. The watch was created later.');

  await link('Search').click();
  const search = '**/moments/search';
  const held = Promise.withResolvers<void>();
  await page.route(search, async (route) => held.promise.then(() => route.continue()).catch(() => undefined));
  await field('What do you look for?').fill('a picture that is not black');
  await page.keyboard.press('Enter');
  await page.getByRole('progressbar', { name: 'Progress of the search' }).waitFor();
  await inspect(page, 'search-running');
  await button('Stop').press('Enter');
  await page.getByText('Stopped before the first answer.').waitFor();
  held.resolve();
  await page.unroute(search);
  await field('What do you look for?').press('Enter');
  await page.getByRole('list', { name: 'Results' }).locator('img').first().waitFor();
  await page.getByText(/^\d+ visits? found: \d+ moments?, .* sure to be seen/).waitFor();
  await inspect(page, 'search');
  await field('What do you look for?').fill('a zebra');
  await page.keyboard.press('Enter');
  await page.getByText(/^Nothing found: /).waitFor();
  await button('Check every visit').press('Enter');
  await page.getByText(/checked, a picture for each of/).waitFor();

  await expect.poll(() => link('Alerts').textContent()).toContain('1 open');
  await link('Alerts').click();
  await alerts.getByText(/open for/).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('w');
  await alerts.getByText('wrong', { exact: true }).waitFor();
  await field('Note').fill('really a pattern');
  await field('Note').press('Escape');
  await page.keyboard.press('r');
  await alerts.getByText('right', { exact: true }).waitFor();
  await page.keyboard.press('a');
  await alerts.getByText('acknowledged', { exact: true }).waitFor();
  await inspect(page, 'alerts');
  const day = new Date().toLocaleDateString('en-CA');
  await field('Camera').selectOption('The picture is not black');
  await field('Day').fill(day);
  await alerts.getByText(/open for/).waitFor();
  await field('Day').fill('2020-02-01');
  await page.getByText('No such alert').waitFor();
  await field('Day').fill('');
  const { alerts: reviewed } = await caller.call('GET', '/alerts');
  expect(reviewed).toMatchObject([
    { state: 'open', review: { correct: true, note: 'really a pattern' }, acknowledged: { by: 'signed in' } },
  ]);

  await page.evaluate(`location.hash = '#/alerts/${reviewed[0].alert_id}'`);
  await page.getByRole('heading', { name: 'Alert', level: 1 }).waitFor();
  await page.getByLabel('Clip of the alert').waitFor();
  await inspect(page, 'alert');
  await alerts.getByRole('link', { name: 'The picture is not black' }).click();
  await button('Edit', true).click();
  await field('Name').fill('North gate');
  await inspect(page, 'watch-edit');
  await caller.call('PATCH', `/watches/${reviewed[0].watch_id}`, { interval_seconds: 6 });
  await button('Save').click();
  await page.getByText('The watch was changed since it was read').waitFor();
  await button('Cancel', true).click();
  await page.getByText('Version 2').waitFor();
  await button('Edit', true).click();
  await field('Name').fill('North gate');
  for (const fold of ['Rules', 'When', 'Cost', 'Picture and regions'])
    await dialog.locator('summary').getByText(fold, { exact: true }).click();
  await field('Cooldown (s)').fill('30');
  await field('Reminder (s)').fill('600');
  await field('Model calls per day').fill('5000');
  await field('Second look after (s)').fill('4');
  await page.getByRole('radio', { name: 'Clip' }).check();
  await field('Clip length in seconds').fill('2');
  await field('Labels').fill('yard\nnorth');
  await field('Watch at certain times only').check();
  await field('Time zone').fill('Europe/Berlin');
  const span = page.getByRole('group', { name: 'Span 1' });
  await span.getByLabel('From, span 1').fill('00:00');
  await span.getByLabel('To, span 1').fill('24:00');
  expect(await span.getByRole('checkbox', { checked: true }).count()).toBe(7);
  await button('Add span').click();
  await button('Remove span 2').click();
  await button('Add destination').click();
  await page.getByLabel('Type of destination 1').selectOption('Webhook');
  await field('Address of destination 1').fill('https://example.com/hook/secret');
  await button('Add region to watch').click();
  await page.locator('.region-canvas > svg').click({ position: { x: 5, y: 5 } });
  await field('Corners of region 1 (%)').fill('0 0, 100 0, 50 50, 0 100');
  const corner = (await page.locator('.corner').nth(2).boundingBox())!;
  await page.mouse.move(corner.x + corner.width / 2, corner.y + corner.height / 2);
  await page.mouse.down();
  await page.mouse.move(corner.x + 2_000, corner.y + 2_000);
  await page.mouse.up();
  expect(await field('Corners of region 1 (%)').inputValue()).toBe('0 0, 100 0, 100 100, 0 100');
  await field('Stream URL').fill('https://other.example/live.m3u8');
  await dialog.getByText('Do they still fit?').waitFor();
  await field('Stream URL').fill(stream.url);
  await inspect(page, 'watch-edit-all');
  await button('Save').click();
  // The alert is open, and the destination is new.
  await button('Not now').click();
  await page.getByRole('heading', { name: 'North gate', level: 1 }).waitFor();
  expect(await caller.call('GET', `/watches/${reviewed[0].watch_id}`)).toMatchObject({
    input_mode: 'clip',
    clip_duration_seconds: 2,
    confirm_seconds: 4,
    labels: ['yard', 'north'],
    conditions: [{ cooldown_seconds: 30, remind_seconds: 600 }],
    budget: { model_calls_per_day: 5000, usd_per_day: null },
    schedule: {
      time_zone: 'Europe/Berlin',
      active: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '24:00' }],
    },
    destinations: [{ type: 'webhook', url_masked: 'https://example.com/***' }],
    regions: [
      {
        mode: 'include',
        points: [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 1],
        ],
      },
    ],
  });
  await button('Hide a part of the picture').click();
  const canvas = page.locator('.region-canvas > svg');
  // The second drag adds no corner.
  for (const y of [90, 40]) {
    const targetPosition = { x: 320, y: y + 90 };
    await canvas.dragTo(canvas, { sourcePosition: { x: 64, y }, targetPosition });
    expect(await field('Corners of region 2 (%)').inputValue()).toMatch(/^10 \S+, 50 \S+, 50 \S+, 10 \S+$/);
  }
  await button('Cancel', true).click();
  await button('Duplicate').click();
  await field('Name').fill('South gate');
  expect(await field('Stream URL').inputValue()).toBe(stream.url);
  await dialog.getByText('Webhook https://example.com/***').waitFor();
  await inspect(page, 'watch-duplicate');
  await button('Start watching').click();
  await page.getByRole('heading', { name: 'South gate', level: 1 }).waitFor();
  const { watches } = await caller.call('GET', '/watches');
  expect(watches.at(-1)).toMatchObject({ name: 'South gate', destinations: [{ type: 'webhook' }] });
  await caller.call('DELETE', `/watches/${watches.at(-1).watch_id}`);
  await link('Watches').click();
  await page.getByRole('link', { name: 'North gate' }).click();
  await button('Test alert').click();
  await page.getByRole('list', { name: 'Results' }).getByText('failed').waitFor({ timeout: 40_000 });
  await inspect(page, 'watch-test');
  await page.keyboard.press('Escape');
  await button('Pause', true).click();
  await button('Pause watch').click();
  await alerts.getByText(/closed after .*: the watch was paused/).waitFor();
  await page.getByText('The watch is paused.').waitFor();
  await expect.poll(() => link('Alerts').textContent()).not.toContain('open');
}, 240_000);

test('a click that is under way when advice arrives is not lost', async () => {
  await caller.call('POST', '/watches', {
    name: 'East gate',
    stream_url: stream.url,
    conditions: [{ condition: 'Tell me if the picture is black' }],
  });
  const pressed = Promise.withResolvers<void>();
  await page.route('**/conditions/advise', async (route) => {
    await pressed.promise;
    await route.continue();
  });
  await signInAt('');
  await link('Watches').click();
  await page.getByRole('link', { name: 'East gate' }).click();
  await button('Edit', true).click();
  await page.locator('summary').getByText('When', { exact: true }).click();
  const box = field('Watch at certain times only');
  await box.hover();
  await page.mouse.down();
  const advised = page.waitForResponse('**/conditions/advise');
  pressed.resolve();
  await (await advised).finished();
  await drawn(page);
  await page.mouse.up();
  await expect.poll(() => box.isChecked()).toBe(true);
  await page.getByLabel('Advice on the condition').getByText('not a request').waitFor();
});

test('a failed delivery of a watch names its destination, and succeeds after a resend', async () => {
  let isBroken = true;
  const receiver = await startReceiver(
    () => caller.webhookSecret,
    () => (isBroken ? 410 : 204),
  );
  onTestFinished(receiver.close);
  await caller.call('POST', '/watches', {
    name: 'South gate',
    stream_url: stream.url,
    conditions: [{ condition: 'The picture is entirely black' }],
    destinations: [{ destination_id: 'duty', type: 'webhook', url: `${receiver.url}/watch` }],
  });
  await signInAt('');
  await link('Watches').click();
  await page.getByRole('link', { name: 'South gate' }).click();
  const deliveries = page.getByRole('region', { name: 'Deliveries' });
  await deliveries.getByText('failed').first().waitFor();
  await deliveries.getByText('#1 to duty').waitFor();
  isBroken = false;
  const before = receiver.of('/watch').length;
  await deliveries.getByRole('button', { name: 'Resend' }).first().click();
  await deliveries.getByText('delivered').first().waitFor();
  expect(receiver.of('/watch').length).toBeGreaterThan(before);
  await inspect(page, 'watch-deliveries');
});

test('a destination that is added while an alert is open is offered that alert', async () => {
  const receiver = await startReceiver(() => caller.webhookSecret);
  onTestFinished(receiver.close);
  const { watch_id: watchId } = await caller.call('POST', '/watches', {
    name: 'North gate',
    stream_url: stream.url,
    conditions: [{ condition: 'The picture is not black' }],
  });
  const open = async () => (await caller.call('GET', `/alerts?watch_id=${watchId}&state=open`)).alerts.length;
  await expect.poll(open, { timeout: 60_000 }).toBe(1);
  await signInAt(`#/watches/${watchId}`);
  await button('Edit', true).click();
  await button('Add destination').click();
  await field('Type of destination 1').selectOption('Webhook');
  await field('Address of destination 1').fill(`${receiver.url}/late`);
  await button('Save').click();
  await page.getByRole('heading', { name: 'Send 1 open alert now?' }).waitFor();
  await inspect(page, 'watch-send-open');
  expect(receiver.of('/late').map(({ type }) => type)).not.toContain('alert_opened');
  // The first seconds of an event belong to the destinations of its time.
  await expect
    .poll(
      async () => {
        const { alerts } = await caller.call('GET', `/alerts?watch_id=${watchId}`);
        return Date.now() - Date.parse(alerts[0].opened_at);
      },
      { timeout: 45_000 },
    )
    .toBeGreaterThan(30_000);
  await button('Send now').click();
  await expect
    .poll(() => receiver.of('/late').map(({ type }) => type), { timeout: 30_000 })
    .toContain('alert_opened');
});

test('a removal of a destination and a deletion say what they leave open there', async () => {
  const receiver = await startReceiver(() => caller.webhookSecret);
  onTestFinished(receiver.close);
  const { watch_id: watchId } = await caller.call('POST', '/watches', {
    name: 'West gate',
    stream_url: stream.url,
    conditions: [{ condition: 'The picture is not black' }],
    destinations: ['duty', 'team'].map((id) => ({
      destination_id: id,
      type: 'webhook',
      url: `${receiver.url}/${id}`,
    })),
  });
  const types = (path: string) => receiver.of(path).map(({ type }) => type);
  for (const path of ['/duty', '/team'])
    await expect.poll(() => types(path), { timeout: 60_000 }).toContain('alert_opened');
  await signInAt(`#/watches/${watchId}`);
  await button('Edit', true).click();
  await button('Remove destination 1').click();
  await button('Save').click();
  const notified = page.getByRole('list', { name: 'Notified destinations' });
  await notified.getByText(/duty .*: 1 open alert/).waitFor();
  await inspect(page, 'watch-notified');
  await button('Close').click();
  await button('Delete', true).click();
  await button('Delete watch').click();
  await notified.getByText(/team .*: 1 open alert/).waitFor();
  // Longer than a reload of the page, whose watch is gone.
  await page.waitForResponse((response) => response.status() === 404);
  await drawn(page);
  await notified.getByText(/team/).waitFor();
  await button('Close').click();
  await expect.poll(() => new URL(page.url()).hash).toBe('#/watches');
  faults.splice(0, faults.length, ...faults.filter((fault) => !fault.includes('404')));
});
