import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { createEventBus } from '../../adapters/aws/event-bus.ts';
import { publishCreations } from '../../core/delivery/publish.ts';
import { sendTestAlert } from '../../core/delivery/test-deliveries.ts';
import { createMonitor } from '../support/create-jobs.ts';
import { cancelJob } from '../../core/job/end-job.ts';
import type { EventBus } from '../../core/ports/delivery.ts';
import type { MetricName } from '../../core/ports/observability.ts';
import { queueMessageSchema } from '../../core/records/delivery.ts';
import type { NewWatchEvent } from '../../core/records/watch-event.ts';
import { busEventSchemas } from '../support/bus-events.ts';
import { createHandler } from '../../functions/deliver/handler.ts';
import { logged, newAlert, newChange, newCreation, opened, progress } from '../contract/watch-records.ts';
import { createWorld, monitorRequest, type World } from '../support/world.ts';
import { createFifoQueue } from './fifo-queue.ts';
import { during } from './lambda-context.ts';

const client = new EventBridgeClient({ region: 'eu-west-1' });
const eventBridge = mockClient(client);
const accepted = { FailedEntryCount: 0, Entries: [{ EventId: 'e1' }] };
const refused = {
  FailedEntryCount: 1,
  Entries: [{ ErrorCode: 'InternalFailure', ErrorMessage: 'Internal Service Failure' }],
};

let world: World;
let queue: ReturnType<typeof createFifoQueue>;
let handler: ReturnType<typeof createHandler>;
let bus: EventBus;
let counted: Partial<Record<MetricName, number>>;
beforeEach(() => {
  eventBridge.reset();
  eventBridge.on(PutEventsCommand).resolves(accepted);
  world = createWorld();
  queue = createFifoQueue(world.clock);
  world.c.queue = {
    hasBus: true,
    send: async (message) => queue.send(queueMessageSchema.parse(JSON.parse(JSON.stringify(message)))),
  };
  counted = {};
  const add = (name: MetricName, value = 1) => void (counted[name] = (counted[name] ?? 0) + value);
  const { log } = world.c;
  bus = createEventBus({
    client,
    bus: 'operations',
    deployment: 'Watchpost-test',
    log,
    measurements: { add },
  });
  handler = createHandler({ ...world.c, bus, postpone: queue.postpone, during });
});

/** Returns the entries of all requests, with their details parsed. */
function put() {
  return eventBridge.commandCalls(PutEventsCommand).map(({ args }) => {
    const { Entries: [entry] = [] } = args[0].input;
    return { ...entry, Detail: JSON.parse(entry?.Detail ?? '') };
  });
}

const types = () => put().map(({ DetailType }) => DetailType);

/** Runs a monitor that triggers once. */
async function runMonitor(fields: Record<string, unknown> = {}) {
  const request = monitorRequest({ stream_url: 'https://user:secret@example.com/live.m3u8', ...fields });
  const { run_id: jobId } = await createMonitor(request, 'harbour', world.c);
  world.script.verdicts.push(true);
  await world.runToEnd(await world.begin({ run_id: jobId, generation: 0 }));
  return jobId;
}

/** Commits events to a watch without destinations. */
async function commitToWatch(events: (alert: ReturnType<typeof newAlert>) => NewWatchEvent[]) {
  const watches = publishCreations(world.c.watches, world.c.runs, world.c);
  const creation = newCreation();
  creation.config.destinations = [];
  creation.secrets.destinations = [];
  await watches.create({ ...creation, events: [], sequence: 0 }, world.clock.now);
  const at = logged(creation, events(newAlert(creation)), 0);
  const run = (await watches.get(creation.run_id, new Date(0)))!;
  await watches.commit(newChange(run, { events: at, set: { sequence: at.length } }));
  return creation;
}

function closed(alert: ReturnType<typeof newAlert>): NewWatchEvent {
  const { alert_id, condition_id, condition, severity, opened_at } = alert;
  const at = { opened_at, closed_at: opened_at, open_seconds: 10, seen_seconds: 10 };
  return {
    type: 'alert_closed',
    data: {
      alert_id,
      condition_id,
      condition,
      severity,
      ...at,
      reason: 'cleared',
      explanation: 'Gone',
      frame_key: null,
    },
  };
}

test('the bus receives every event of a job without a webhook except progress', async () => {
  const jobId = await runMonitor();

  await queue.pass(5, handler);

  expect(types()).toEqual(['job_started', 'watch_triggered', 'job_stopped']);
  expect(put()[1]).toMatchObject({
    EventBusName: 'operations',
    Source: 'watchpost',
    Detail: {
      id: expect.stringMatching(`^msg_${jobId}_\\d+$`),
      caller: 'harbour',
      deployment: 'Watchpost-test',
      type: 'watch_triggered',
      source_url: 'https://user:***@example.com/live.m3u8',
      data: { job_id: jobId, frame_url: expect.stringContaining(`/jobs/${jobId}/media/`) },
    },
  });
  expect(put()[1]?.Time?.toISOString()).toBe(put()[1]?.Detail.timestamp);
  expect(JSON.stringify(put())).not.toContain('secret');
  expect(queue.waiting()).toBe(0);
  expect(counted).toEqual({ BusEvents: 3 });
});

test('the filter of a webhook does not apply to the bus, and both get the same id', async () => {
  await runMonitor({ webhook_url: 'https://receiver.example/hook', webhook_events: ['watch_triggered'] });

  await queue.pass(5, handler);

  expect(types()).toEqual(['job_started', 'watch_triggered', 'job_stopped']);
  expect(world.sent.map(({ body }) => JSON.parse(body).type)).toEqual(['watch_triggered']);
  expect(world.sent[0]?.headers['webhook-id']).toBe(put()[1]?.Detail.id);
});

test('an event that the bus refuses within a successful response returns, and later ones wait for it', async () => {
  eventBridge.on(PutEventsCommand).resolvesOnce(refused).resolvesOnce(refused).resolves(accepted);
  await runMonitor();

  await queue.pass(10, handler);

  expect(types()).toEqual(['job_started', 'job_started', 'job_started', 'watch_triggered', 'job_stopped']);
  expect(new Set(put().map(({ Detail }) => Detail.id)).size).toBe(3);
  expect(counted).toEqual({ BusEvents: 3, BusErrors: 2 });
});

test('an event that the bus never accepts moves to the dead-letter queue', async () => {
  const denied = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
  eventBridge.on(PutEventsCommand).rejects(denied);
  const { run_id: jobId } = await createMonitor(monitorRequest(), 'harbour', world.c);
  await world.begin({ run_id: jobId, generation: 0 });

  await queue.pass(3000, handler);

  expect(queue.dead.map((body) => JSON.parse(body))).toEqual([
    { bus: 'job', id: jobId, sequence: 1, subject: 'log' },
  ]);
  expect(counted.BusErrors).toBeGreaterThan(20);
});

test('the bus receives the events of a watch without destinations, except progress', async () => {
  const watch = await commitToWatch((alert) => [opened(alert), progress, closed(alert)]);

  await queue.pass(5, handler);

  expect(types()).toEqual(['alert_opened', 'alert_closed']);
  expect(put()[0]?.Detail).toMatchObject({
    caller: watch.caller,
    id: `msg_${watch.run_id}_1`,
    data: { watch_id: watch.run_id, sequence: 1, frame_url: expect.stringContaining('/alerts/') },
  });
});

test('a test alert of a watch goes to the bus too', async () => {
  const watch = await commitToWatch(() => [progress]);

  expect(await sendTestAlert((await world.c.watches.get(watch.run_id, new Date(0)))!, world.c)).toEqual([]);
  await queue.pass(1, handler);

  expect(types()).toEqual(['test']);
  expect(put()[0]?.Detail.data).toMatchObject({ watch_id: watch.run_id, watch_name: watch.config.name });
});

test('an event of a bus that was removed is omitted with a warning', async () => {
  const { run_id: jobId } = await createMonitor(monitorRequest(), 'harbour', world.c);
  await cancelJob(jobId, 'harbour', world.c);
  const withoutBus = createHandler({ ...world.c, postpone: queue.postpone, during });

  await queue.pass(1, withoutBus);

  expect(queue.waiting()).toBe(0);
  expect(world.logged).toContain('Event omitted from the event bus');
});

test('an event above 256 kB is shortened and keeps its type, its ids and its shape', async () => {
  const explanation = 'ä'.repeat(150_000);
  const data = { job_id: 'j1', sequence: 7, explanation, gaps: [{ reason: explanation }] };
  const event = { id: 'msg_j1_7', caller: 'harbour', type: 'summary_generated', source_url: 'rtsp://x' };

  await bus.put({ ...event, timestamp: '2026-03-01T12:00:00.000Z', data });

  const [entry] = put();
  expect(Buffer.byteLength(JSON.stringify(entry?.Detail))).toBeLessThan(256_000);
  expect(entry?.Detail).toMatchObject({ ...event, data: { job_id: 'j1', sequence: 7 } });
  expect(entry?.Detail.data.explanation).toMatch(/^ä{1000,}…$/);
  expect(entry?.Detail.data.gaps[0].reason).toMatch(/^ä{1000,}…$/);
  expect(world.logged).toContain('Event shortened for the event bus');
});

test('each event matches the schema of its type', async () => {
  await runMonitor();
  const watch = await commitToWatch((alert) => [opened(alert), closed(alert)]);
  await sendTestAlert((await world.c.watches.get(watch.run_id, new Date(0)))!, world.c);

  await queue.pass(5, handler);

  expect(put()).toHaveLength(6);
  for (const { DetailType, Detail } of put()) {
    const found = busEventSchemas.find(({ type }) => type === DetailType);
    expect(found?.schema.parse(Detail)).toEqual(Detail);
  }
});
