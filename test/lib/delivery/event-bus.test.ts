import { expect, test } from 'vitest';
import { stageSettingsSchema } from '../../../lib/stages/stage-settings.ts';
import { describeRoles } from '../roles.ts';
import { stageKinds } from '../stage-kinds.ts';
import { ofType, one, ownFunctions, synthesize, type Synthesized } from '../synthesize.ts';

const plain = synthesize();
const made = synthesize(stageKinds['event-bus']);
const arn = 'arn:aws:events:eu-central-1:111122223333:event-bus/operations';
const given = synthesize({ eventBus: arn });

/** Returns the permissions that a stage has beyond those of the default one, with their role. */
function addedPermissions({ resources }: Synthesized): string[] {
  const before = new Set(list(plain.resources));
  return list(resources).filter((line) => !before.has(line));
}

function list(resources: Synthesized['resources']): string[] {
  const sections = describeRoles(resources).split(/^## /m).slice(1);
  return sections.flatMap((section) => {
    const [role = '', ...lines] = section.split('\n');
    return lines.filter((line) => line.startsWith('- ')).map((line) => `${role}: ${line.slice(2)}`);
  });
}

test('the default stage has no bus, no permission for one and no alarm', () => {
  expect(ofType(plain, 'AWS::Events::EventBus')).toEqual([]);
  expect(list(plain.resources).filter((line) => line.includes('events:'))).toEqual([]);
  expect(ofType(plain, 'AWS::CloudWatch::Alarm').filter(([id]) => id.includes('Bus'))).toEqual([]);
});

test('new-bus creates a bus with the name of the stack, whose ARN is an output', () => {
  expect(one(made, 'AWS::Events::EventBus', 'EventBus').Name).toBe('Watchpost-test');
  expect(JSON.stringify(made.template.toJSON()['Outputs'].EventBusArn.Value)).toContain('EventBus');
});

test.each([
  ['a new bus', made, '<EventBus.Arn>'],
  ['a given bus', given, arn],
])('only deliver has a permission more with %s: events of this service on this bus', (_, stage, bus) => {
  const when =
    '{"ForAllValues:StringEquals":{"events:source":["watchpost"]},"Null":{"events:source":"false"}}';
  expect(addedPermissions(stage)).toEqual([
    `WebhooksDeliverRole: events:PutEvents on \`${bus}\` when \`${when}\``,
  ]);
});

test('every function that commits or delivers events knows the bus, and capture does not', () => {
  const buses = Object.entries(ownFunctions(given)).map(([name, { Environment }]) => [
    name,
    Environment.Variables.EVENT_BUS,
  ]);
  expect(Object.fromEntries(buses)).toEqual({
    api: arn,
    stream: arn,
    events: arn,
    capture: undefined,
    analyze: arn,
    deliver: arn,
    reconcile: arn,
  });
  expect(ofType(given, 'AWS::Events::EventBus')).toEqual([]);
});

test('an alarm counts the events that did not reach the bus', () => {
  expect(one(made, 'AWS::CloudWatch::Alarm', 'BusErrors')).toMatchObject({
    MetricName: 'BusErrors',
    Threshold: 3,
    AlarmDescription: expect.stringContaining('#bus-errors'),
  });
});

test('a bus in another region is refused with the way out', () => {
  expect(() => synthesize({ eventBus: arn.replace('eu-central-1', 'us-east-1') })).toThrow(
    'eventBus is a bus in us-east-1, and the stack is in eu-central-1. Use a bus in eu-central-1',
  );
});

test.each(['', 'my bus', 'arn:aws:sqs:eu-central-1:111122223333:queue', 'a'.repeat(257)])(
  'eventBus %j is refused',
  (eventBus) => {
    const { error } = stageSettingsSchema.safeParse({ eventBus });
    expect(error?.issues[0]?.message).toContain('new-bus, or the name or ARN of an event bus');
  },
);
