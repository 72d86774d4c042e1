import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { stageKinds, type StageKind } from '../stage-kinds.ts';
import { resolveValue, withoutHash } from '../roles.ts';
import { ofType, synthesize, type Synthesized } from '../synthesize.ts';
import { isPermitted, listGrants, type RoleRequest } from './simulate.ts';
import { unusedGrants } from './unused-grants.ts';

/** Requests that the functions of the emulated stack made: `npm run test:aws -- --record` writes them. */
const recorded: RoleRequest[] = JSON.parse(
  readFileSync(new URL('requests.snapshot.json', import.meta.url), 'utf8'),
);
const everything = synthesize({ alarmEmail: 'operator@example.com', eventBus: 'new-bus' });

/** Stages with other roles or workflows than the default one has; `npm run test:aws -- --all` takes all kinds. */
const most: readonly string[] = ['default', 'own-network', 'event-bus'] satisfies StageKind[];
const kinds = Object.entries(stageKinds).filter(
  ([kind]) => process.env['STAGE_RULES'] === 'all' || most.includes(kind),
);

describe.each(kinds)('the roles of a stage of kind %s', (_, settings) => {
  const stage = synthesize(settings);
  const grants = listGrants(stage.resources);

  test('permit every request that the emulated stack made', async () => {
    const hasBus = settings.eventBus !== undefined;
    const made = recorded.filter(({ action }) => hasBus || action !== 'events:PutEvents');
    expect(await listDenied(made, grants)).toEqual([]);
  });

  test('permit every task of the workflows', async () => {
    const tasks = listTasks(stage);
    expect(tasks.length).toBeGreaterThan(5);
    expect(await listDenied(tasks, grants)).toEqual([]);
  });
});

test('each permission is used by a request of the emulated stack, or listed with its reason', async () => {
  const requests = [...recorded, ...listTasks(everything)];
  const unused: string[] = [];
  for (const grant of listGrants(everything.resources)) {
    if (grant.role.startsWith('CustomCDKBucketDeployment')) continue;
    const asked = requests.filter(({ role, action }) => role === grant.role && action === grant.action);
    const used = await Promise.all(asked.map((request) => isPermitted(request, [grant])));
    if (!used.includes(true)) unused.push(`${grant.role}: ${grant.action} on ${grant.resource}`);
  }
  const unlisted = unused.filter((line) => !unusedGrants.some(({ grants }) => grants.test(line)));
  expect(unlisted).toEqual([]);
  const idle = unusedGrants.filter(({ grants }) => !unused.some((line) => grants.test(line)));
  expect(idle.map(({ reason }) => reason)).toEqual([]);
});

test('a role permits no request on an item, object or machine that is not its own', async () => {
  const grants = listGrants(everything.resources);
  const table = 'arn:aws:dynamodb:us-east-1:000000000000:table/JobsTable';
  const item = (role: string, action: string, key: string): RoleRequest => ({
    role,
    action,
    resource: table,
    context: { 'dynamodb:LeadingKeys': [key] },
  });
  const object = (role: string, action: string, key: string): RoleRequest => ({
    role,
    action,
    resource: `arn:aws:s3:::MediaBucket/${key}`,
    context: {},
  });
  const denied = [
    item('CaptureRole', 'dynamodb:GetItem', 'RUN#ID'),
    { ...item('CaptureRole', 'dynamodb:GetItem', 'SOURCE#ID'), context: {} },
    item('CaptureRole', 'dynamodb:PutItem', 'SOURCE#ID'),
    object('CaptureRole', 's3:GetObject', 'captures/ID/1-ID.jpg'),
    object('CaptureRole', 's3:PutObject', 'evidence/7/ID/1-ID.jpg'),
    item('AnalyzeRole', 'dynamodb:GetItem', 'KEY#HASH'),
    item('WebhooksDeliverRole', 'dynamodb:Query', 'KEYS'),
    item('EventsStreamRole', 'dynamodb:PutItem', 'RUN#ID'),
    item('EventsStreamRole', 'dynamodb:PutItem', 'CALLER#NAME'),
    {
      role: 'WebhooksDeliverRole',
      action: 'events:PutEvents',
      resource: 'arn:aws:events:us-east-1:000000000000:event-bus/EventBus',
      context: { 'events:source': ['watchpost', 'aws.states'] },
    },
  ];
  expect(await listDenied(denied, grants)).toEqual(denied);
});

async function listDenied(requests: RoleRequest[], grants: ReturnType<typeof listGrants>) {
  const permitted = await Promise.all(requests.map((request) => isPermitted(request, grants)));
  return requests.filter((_, index) => !permitted[index]);
}

/** Returns the requests that the definitions of the state machines name. */
function listTasks(stage: Synthesized): RoleRequest[] {
  return ofType(stage, 'AWS::StepFunctions::StateMachine').flatMap(([, { Properties }]) => {
    const { DefinitionString: text, DefinitionSubstitutions: names, RoleArn: role } = Properties;
    const read = (value: string) =>
      value.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => resolveValue(names[name], stage.resources));
    const states = Object.values<any>(JSON.parse(text).States).filter(({ Type }) => Type === 'Task');
    return states.map(({ Resource, Parameters }): RoleRequest => {
      const isBurst = Resource.endsWith(':startSyncExecution');
      return {
        role: withoutHash(role['Fn::GetAtt'][0]),
        action: isBurst ? 'states:StartSyncExecution' : 'lambda:InvokeFunction',
        resource: read(isBurst ? Parameters.StateMachineArn : Resource),
        context: {},
      };
    });
  });
}
