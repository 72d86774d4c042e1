import validateWorkflow from 'asl-validator';
import { expect, test } from 'vitest';
import { recordVersion } from '../../../core/records/record-version.ts';
import { describeRoles } from '../roles.ts';
import { ofType, ownFunctions, synthesize } from '../synthesize.ts';

const synthesized = synthesize();
const { resources } = synthesized;

const machine = (name: string) => {
  const found = ofType(synthesized, 'AWS::StepFunctions::StateMachine').find(
    ([, { Properties }]) => Properties.StateMachineName === `Watchpost-test-${name}`,
  );
  if (!found) throw new Error(`No state machine ${name}`);
  return found[1].Properties;
};

test.each(['watch', 'jobs'])('the state machine %s logs every step without its data', (name) => {
  expect(machine(name)).toMatchObject({
    StateMachineType: 'STANDARD',
    LoggingConfiguration: { Level: 'ALL', IncludeExecutionData: false },
  });
});

test('bursts are Express executions that log failures only', () => {
  expect(machine('burst')).toMatchObject({
    StateMachineType: 'EXPRESS',
    LoggingConfiguration: { Level: 'ERROR', IncludeExecutionData: false },
  });
});

test('no state machine is traced, because a trace would be full after some ticks', () => {
  for (const name of ['watch', 'jobs', 'burst']) expect(machine(name).TracingConfiguration).toBeUndefined();
});

test.each(['watch', 'jobs', 'burst'])('the definition of %s is valid with its names substituted', (name) => {
  expect(validateWorkflow(JSON.parse(definition(name))).errors).toEqual([]);
  expect(definition(name)).not.toContain('${');
});

test('the validator rejects a definition whose state leads to an unknown state', () => {
  const broken = definition().replace('"Default":"Pause"', '"Default":"Nowhere"');
  expect(validateWorkflow(JSON.parse(broken)).errors).not.toEqual([]);
});

test('another field in the state of executions is another version, which a deployment over running ones refuses', () => {
  const since: [version: number, fields: string][] = [
    [16, 'burst capture captured done failure failures generation max_pause pause run_id wait_until watch'],
  ];
  const names = ['watch', 'jobs', 'burst'].flatMap((name) => [
    ...definition(name).matchAll(/(?<!\$)\$\.(\w+)/g),
  ]);
  const fields = new Set(names.map(([, name = '']) => name));
  expect([...fields].toSorted().join(' ')).toBe(since.findLast(([version]) => version <= recordVersion)?.[1]);
});

test('a burst ends before the limit of Express workflows, and its parent waits longer', () => {
  const burst = JSON.parse(definition('burst'));
  expect(burst.TimeoutSeconds).toBeLessThan(300);
  expect(JSON.parse(definition('jobs')).States.Burst.TimeoutSeconds).toBeGreaterThan(burst.TimeoutSeconds);
  const { burst_seconds: seconds } = burst.States.Analyze.Parameters;
  expect(seconds + 50).toBeLessThan(burst.TimeoutSeconds);
});

test('executions of jobs may start bursts and nothing else', () => {
  const [section = ''] = describeRoles(resources)
    .split('\n## ')
    .filter((each) => each.startsWith('WatchJobsRole'));
  const actions = [...section.matchAll(/^- (states:\S+) on `(.*)`$/gm)].map(([, ...found]) => found);
  expect(actions).toEqual([['states:StartSyncExecution', expect.stringMatching(/WatchBurst/)]]);
});

test('new executions start on the machine of the mode, and executions of the other mode continue', () => {
  const environment = (settings: { burstSeconds?: number }) => {
    const { STATE_MACHINE_ARN: current, OTHER_STATE_MACHINE_ARN: other } = ownFunctions(synthesize(settings))[
      'reconcile'
    ].Environment.Variables;
    return [current, other].map((arn) => /Watchpost-test-(\w+)/.exec(JSON.stringify(arn))?.[1]);
  };
  expect(environment({})).toEqual(['jobs', 'watch']);
  expect(environment({ burstSeconds: 0 })).toEqual(['watch', 'jobs']);
});

test('EventBridge and Lambda discard invocations of reconcile that are older than ten minutes', () => {
  const [[, invoke]] = ofType(synthesized, 'AWS::Lambda::EventInvokeConfig') as any;
  expect(invoke.Properties.MaximumEventAgeInSeconds).toBe(600);
  for (const [, { Properties }] of ofType(synthesized, 'AWS::Events::Rule'))
    expect(Properties.Targets[0].RetryPolicy.MaximumEventAgeInSeconds).toBe(600);
});

test('reconcile runs when an execution ends and every minute', () => {
  const rules = ofType(synthesized, 'AWS::Events::Rule').map(([, { Properties }]) => Properties);
  expect(rules).toContainEqual(expect.objectContaining({ ScheduleExpression: 'rate(1 minute)' }));
  const pattern = rules.find(({ EventPattern }) => EventPattern).EventPattern;
  expect(pattern.detail.stateMachineArn).toEqual([
    { Ref: expect.stringMatching(/^WatchJobs/) },
    { Ref: expect.stringMatching(/^WatchStateMachine/) },
  ]);
});

/** Returns the workflow definition with its functions substituted. */
function definition(name = 'watch'): string {
  const { DefinitionString, DefinitionSubstitutions } = ofType(
    synthesized,
    'AWS::StepFunctions::StateMachine',
  )
    .map(([, { Properties }]) => Properties)
    .find(({ StateMachineName }) => StateMachineName === `Watchpost-test-${name}`);
  return Object.keys(DefinitionSubstitutions).reduce(
    (whole, name) =>
      whole.replaceAll(`\${${name}}`, `arn:aws:lambda:eu-central-1:123456789012:function:${name}`),
    DefinitionString,
  );
}
