import { DescribeEventBusCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { checkEventBus } from '../../../../lib/operations/preflight/event-bus.ts';

const client = new EventBridgeClient({ region: 'eu-central-1' });
const eventBridge = mockClient(client);
const describeBus = eventBridge.on(DescribeEventBusCommand);
beforeEach(() => void eventBridge.resetHistory());

test('an event bus that exists is green', async () => {
  describeBus.resolves({ Name: 'ops', Arn: 'arn:aws:events:eu-central-1:111122223333:event-bus/ops' });
  expect(await checkEventBus('ops', client)).toMatchObject([
    { level: 'green', found: expect.stringContaining('event-bus/ops exists') },
  ]);
});

test.each([
  ['ResourceNotFoundException', 'red', 'new-bus'],
  ['AccessDeniedException', 'yellow', 'events:DescribeEventBus'],
])('an event bus whose description fails with %s is %s', async (name, level, next) => {
  describeBus.rejects(Object.assign(new Error('Event bus ops does not exist.'), { name }));
  expect(await checkEventBus('ops', client)).toMatchObject([
    { check: 'event bus', level, next: expect.stringContaining(next) },
  ]);
});

test.each([undefined, 'new-bus'])(
  'a stage with the event bus %s has no result and makes no request',
  async (setting) => {
    expect(await checkEventBus(setting, client)).toEqual([]);
    expect(eventBridge.calls()).toEqual([]);
  },
);
