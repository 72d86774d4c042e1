import { expect, test } from 'vitest';
import { rotateWebhookSecret } from '../../../core/delivery/webhook-settings.ts';
import { TransientError } from '../../../core/errors.ts';
import { publishRun } from '../../../core/delivery/publish.ts';
import { deleteStoredWatch } from '../../../core/watch/control-watch.ts';
import {
  down,
  duty,
  old,
  other,
  pager,
  person,
  team,
  createEditedWatch,
} from '../../support/watches/edited-watch.ts';

const removed = { destinations: [duty] };
const moved = { destinations: [duty, { ...team, url: other }] };

test.each([
  ['is removed', removed],
  ['has another address', moved],
])(
  'a destination receives nothing more if it %s, and the answer has the open alerts that it was notified of',
  async (_, patch) => {
    const watch = await createEditedWatch([duty, team]);
    await watch.tick(true);
    await watch.pass(10);
    watch.take();
    const former = {
      destination_id: 'team',
      url_masked: 'https://old.example/***',
      open_alerts: [await watch.openAlert()],
      stream_lost: false,
      error: null,
    };
    expect(await watch.edit(patch)).toEqual([former]);
    expect(await watch.stored()).not.toContain(old);
    expect(await watch.edit({ name: 'Gate, north' })).toEqual([]);
    await watch.tick(false);
    await watch.pass(10);
    const received = watch.take();
    expect(received.filter((each) => each.startsWith(old))).toEqual([]);
    expect(received.filter((each) => each.includes('alert_closed'))).toEqual([
      'https://duty.example/hook alert_closed cleared',
    ]);
  },
);

test('the answer to a removal has the lost stream that the destination was notified of, and no alert that is over', async () => {
  const watch = await createEditedWatch([team]);
  await watch.tick(true);
  await watch.tick(false);
  await watch.lose();
  await watch.pass(10);
  expect(await watch.edit({ destinations: [] })).toMatchObject([{ open_alerts: [], stream_lost: true }]);
});

test.each([
  ['is removed', []],
  ['has another key', [{ ...pager, routing_key: 'S'.repeat(32) }]],
])('incidents of PagerDuty are resolved once, within the change, if it %s', async (_, destinations) => {
  const watch = await createEditedWatch([pager]);
  await watch.tick(true);
  await watch.lose();
  await watch.pass(10);
  const alert = await watch.openAlert();
  await watch.edit({ destinations });
  expect(watch.ends).toEqual([{ to: 'pagerduty', subjects: [alert, 'stream'] }]);
  watch.take();
  await watch.tick(false);
  await watch.pass(60);
  expect(watch.take()).toEqual([]);
  await watch.edit({ destinations: [pager] });
  await watch.pass(60);
  await watch.edit({ destinations: [] });
  expect(watch.ends.slice(1).flatMap(({ subjects }) => subjects)).toEqual([]);
});

test.each([
  ['waits for a retry', 2],
  ['is published and not attempted', 0],
])('an incident whose end %s is resolved by the change', async (_, seconds) => {
  let isDown = false;
  const watch = await createEditedWatch([pager], () => (isDown ? down : {}));
  await watch.tick(true);
  await watch.pass(10);
  const alert = await watch.openAlert();
  isDown = true;
  await watch.tick(false);
  await watch.pass(seconds);
  isDown = false;
  watch.take();
  await watch.edit({ destinations: [] });
  await watch.pass(86_400);
  expect(watch.ends).toEqual([{ to: 'pagerduty', subjects: [alert] }]);
  expect(watch.take()).toEqual([]);
});

test('a destination that is disabled gets no end, and the answer says why', async () => {
  const watch = await createEditedWatch([pager], ({ type }) =>
    type === 'alert_reminder' ? { status: 401, outcome: 'gone' } : {},
  );
  await watch.edit({ conditions: [{ ...person, remind_seconds: 60 }] });
  await watch.tick(true);
  await watch.pass(70);
  await watch.tick(true);
  await watch.pass(10);
  expect(await watch.edit({ destinations: [] })).toMatchObject([
    { error: expect.stringContaining('401'), open_alerts: [await watch.openAlert()] },
  ]);
  expect(watch.ends).toEqual([]);
});

test.each([
  ['waits for a retry', 2],
  ['is published and not attempted', 0],
])('a new address gets no end that %s at the address before', async (_, seconds) => {
  let isDown = false;
  const watch = await createEditedWatch([team], ({ type }) =>
    isDown && type === 'alert_closed' ? down : {},
  );
  await watch.tick(true);
  await watch.pass(10);
  isDown = true;
  await watch.tick(false);
  await watch.pass(seconds);
  isDown = false;
  watch.take();
  await watch.edit({ destinations: [{ ...team, url: other }] });
  await watch.pass(60);
  expect(watch.take()).toEqual([`${other} watch_changed changed`]);

  await watch.tick(true);
  await watch.pass(10);
  await watch.tick(false);
  await watch.pass(10);
  expect(watch.take()).toEqual([`${other} alert_opened`, `${other} alert_closed cleared`]);
});

test('a new address gets the end of the next lost stream, although the end before waited at the address before', async () => {
  let isDown = false;
  const watch = await createEditedWatch([team], () => (isDown ? down : {}));
  await watch.lose();
  await watch.pass(10);
  isDown = true;
  await watch.tick(false);
  await watch.pass(2);
  isDown = false;
  await watch.edit({ destinations: [{ ...team, url: other }] });
  await watch.pass(60);
  watch.take();
  await watch.lose();
  await watch.pass(10);
  await watch.tick(false);
  await watch.pass(10);
  expect(watch.take()).toEqual([`${other} stream_lost unreachable`, `${other} stream_recovered unreachable`]);
});

test('a new address gets what the one before did not accept: an opening and its end, in their order', async () => {
  const watch = await createEditedWatch([team], ({ url, type }) =>
    url === old && type === 'alert_opened' ? down : {},
  );
  await watch.tick(true);
  await watch.pass(2);
  await watch.tick(false);
  await watch.pass(2);
  watch.take();
  expect(await watch.edit({ destinations: [{ ...team, url: other }] })).toMatchObject([{ open_alerts: [] }]);
  await watch.pass(60);
  expect(watch.take()).toEqual([
    `${other} watch_changed changed`,
    `${other} alert_opened`,
    `${other} alert_closed cleared`,
  ]);
});

test.each([
  ['what waited for a retry', old, 40],
  ['what waited for a retry, at another address', other, 40],
  ['what had no attempt', old, 0],
  ['what had no attempt, at another address', other, 0],
])(
  'a destination that is added again gets nothing from before, not even %s',
  async (_, url, secondsBefore) => {
    const watch = await createEditedWatch([team], ({ type }) => (type === 'alert_opened' ? down : {}));
    await watch.tick(true);
    await watch.pass(secondsBefore);
    watch.take();
    await watch.edit({ destinations: [] });
    await watch.edit({ destinations: [{ ...team, url }] });
    await watch.pass(7200);
    await watch.tick(false);
    await watch.pass(86_400);
    expect(watch.take()).toEqual([`${url} watch_changed changed`]);
  },
);

test('two destinations with the same address keep what each was notified of', async () => {
  const watch = await createEditedWatch([
    { ...team, min_severity: 'critical' },
    { ...team, destination_id: 'all' },
  ]);
  await watch.tick(true);
  await watch.pass(10);
  expect(await watch.edit({ destinations: [] })).toMatchObject([
    { destination_id: 'team', open_alerts: [] },
    { destination_id: 'all', open_alerts: [await watch.openAlert()] },
  ]);
  const again = await createEditedWatch([{ ...team, destination_id: 'a', min_severity: 'critical' }, team]);
  await again.tick(true);
  await again.pass(10);
  expect(await deleteStoredWatch(again.watchId, 'alice', again.c)).toMatchObject([
    { destination_id: 'team' },
  ]);
});

test('a change whose ends fail in the service is answered, and the log has the reason', async () => {
  const watch = await createEditedWatch([pager]);
  await watch.tick(true);
  await watch.pass(10);
  const { c } = watch;
  const [alert, changeState] = [await watch.openAlert(), c.deliveries.changeState];
  c.deliveries.changeState = async () => Promise.reject(new TransientError('the database is busy'));
  const former = await watch.edit({ destinations: [] });
  c.deliveries.changeState = changeState;
  expect(former).toMatchObject([{ open_alerts: [alert], error: expect.stringContaining('service failed') }]);
  expect(watch.logged.join('\n')).toContain('Former destination not ended');
});

test('a change that cannot read what it ends changes nothing', async () => {
  const watch = await createEditedWatch([pager]);
  await watch.tick(true);
  await watch.pass(10);
  const { c } = watch;
  const { states } = c.deliveries;
  c.deliveries.states = async () => Promise.reject(new TransientError('the database is busy'));
  await expect(watch.edit({ destinations: [] })).rejects.toThrow('busy');
  c.deliveries.states = states;
  await watch.edit({ destinations: [] });
  expect(watch.ends).toHaveLength(1);
});

test('incidents are resolved although an event of the new address precedes the end', async () => {
  const watch = await createEditedWatch([pager]);
  await watch.tick(true);
  await watch.pass(10);
  const { c } = watch;
  const { start } = c.executions;
  c.executions.start = async (run) => {
    await watch.pass(1);
    const [{ run: kind, run_id, destination_id } = expect.fail()] = await watch.states();
    const key = { run: kind, run_id, destination_id };
    await c.deliveries.changeState(key, (stored) => ({ ...stored!, fingerprint: 'new', notified: [] }));
    return start(run);
  };
  await watch.edit({ destinations: [{ ...pager, routing_key: 'S'.repeat(32) }] });
  expect(watch.ends).toMatchObject([{ subjects: [await watch.openAlert()] }]);
});

test('the answer of an address before, during which a change gave another one, says nothing about the new one', async () => {
  let change: (() => Promise<unknown>) | undefined;
  const watch = await createEditedWatch([team], async ({ url, type }) => {
    if (url !== old || type !== 'alert_opened') return {};
    await change?.();
    return { status: 410, outcome: 'gone' };
  });
  change = () => watch.edit({ destinations: [{ ...team, url: other }] });
  await watch.tick(true);
  await watch.pass(10);
  expect(await watch.states()).toMatchObject([{ disabled: null, failures: 0 }]);
  expect(watch.take()).toContain(`${other} watch_changed changed`);
});

test('the answer to a deletion says which destinations were notified of what it ends', async () => {
  const watch = await createEditedWatch([{ ...team, min_severity: 'critical' }, duty]);
  await watch.tick(true);
  await watch.pass(10);
  const alert = await watch.openAlert();
  const notified = await deleteStoredWatch(watch.watchId, 'alice', watch.c);
  expect(notified).toMatchObject([{ destination_id: 'duty', open_alerts: [alert], stream_lost: false }]);
});

test('a destination keeps what it has accepted if the event is published again', async () => {
  const watch = await createEditedWatch([pager]);
  await watch.tick(true);
  await watch.pass(10);
  const { c } = watch;
  const again = { ...(await c.watches.getIncludingEnded(watch.watchId))!, published: 0 };
  const runs = {
    ...c.runs,
    markPublished: async () => undefined,
    getIncludingEnded: async () => again,
  };
  await publishRun({ run: 'watch', run_id: watch.watchId }, { ...c, runs });
  await watch.pass(10);
  await watch.edit({ destinations: [] });
  expect(watch.ends).toEqual([{ to: 'pagerduty', subjects: [expect.any(String)] }]);
});

test('a broker removes what it keeps of the watch, unless the watch still publishes there', async () => {
  const broker = { destination_id: 'home', type: 'mqtt' as const, url: 'mqtt://user:one@broker.example' };
  const watch = await createEditedWatch([broker]);
  await watch.tick(true);
  await watch.pass(10);
  await watch.edit({ destinations: [{ ...broker, url: 'mqtts://user:one@broker.example:8883' }] });
  await watch.pass(10);
  await watch.edit({ destinations: [{ ...broker, url: 'mqtt://user:two@broker.example' }] });
  await watch.pass(10);
  expect(watch.ends).toEqual([]);
  await watch.edit({ destinations: [] });
  expect(watch.ends.map(({ to }) => to)).toEqual(['mqtt://user:two@broker.example']);
});

test('a destination stays the same in a change after a rotation of the webhook secret: disabled, without an end', async () => {
  const watch = await createEditedWatch([team, duty], ({ url, type }) =>
    url === old && type === 'watch_changed' ? { status: 410, outcome: 'gone' } : {},
  );
  await watch.tick(true);
  await watch.pass(10);
  await rotateWebhookSecret('alice', 0, watch.c);
  expect(await watch.edit({ name: 'Gate, north' })).toEqual([]);
  watch.take();
  await watch.tick(false);
  await watch.pass(10);
  expect(watch.take().filter((each) => each.startsWith(old))).toEqual([]);
  const states = await watch.states();
  expect(states.filter(({ disabled }) => disabled).map(({ destination_id: id }) => id)).toEqual(['team']);
});
