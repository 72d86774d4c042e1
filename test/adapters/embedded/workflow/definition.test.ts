import { describe, expect, test } from 'vitest';
import { loadWorkflow } from '../../../../adapters/embedded/workflow/definition.ts';
import { WorkflowDefinitionError } from '../../../../adapters/embedded/workflow/definition-error.ts';
import { watch } from './scripted-job.ts';

const task = { Type: 'Task', Resource: '${Work}', Next: 'Finished' };
const retrier = { ErrorEquals: ['States.Timeout'] };
const wait = { Type: 'Wait', TimestampPath: '$.at', Next: 'Finished' };
const rule = { Variable: '$.done', BooleanEquals: true, Next: 'Finished' };
const choice = { Type: 'Choice', Choices: [rule], Default: 'Finished' };

function definitionWith(state: object) {
  return { StartAt: 'First', States: { First: state, Finished: { Type: 'Succeed' } } };
}

function findProblems(definition: unknown, resources = ['Work']): string {
  try {
    loadWorkflow(definition, resources);
  } catch (error) {
    if (error instanceof WorkflowDefinitionError) return error.problems.join('\n');
    throw error;
  }
  return '';
}

describe('loading a workflow', () => {
  test('the engine accepts watch.asl.json unchanged', () => {
    const workflow = loadWorkflow(watch, ['AnalyzeFunctionArn', 'CaptureFunctionArn']);
    expect([...workflow.states.keys()]).toEqual(Object.keys(watch.States));
  });

  test.each([
    ['a task', task],
    [
      'a task with all that is implemented',
      {
        ...task,
        Comment: 'Works',
        InputPath: '$.a',
        Parameters: { 'x.$': '$.b.c', 'y.$': '$', plain: '$.not.a.path' },
        ResultPath: '$.r',
        TimeoutSeconds: 5,
        Retry: [{ ...retrier, MaxAttempts: 0, JitterStrategy: 'FULL' }, { ErrorEquals: ['States.ALL'] }],
        Catch: [{ ErrorEquals: ['MyError', 'States.Timeout'], ResultPath: '$.e', Next: 'Finished' }],
      },
    ],
    ['a wait', wait],
    ['a choice', choice],
  ])('the definition of %s is accepted', (_, state) => {
    expect(findProblems(definitionWith(state))).toBe('');
  });

  test.each([
    ['Parallel', { Type: 'Parallel', Branches: [], Next: 'Finished' }, 'Type: must be one of'],
    ['Map', { Type: 'Map', ItemProcessor: {}, Next: 'Finished' }, 'Type: must be one of'],
    ['Pass', { Type: 'Pass', Next: 'Finished' }, 'Type: must be one of'],
    ['a state without a type', { Next: 'Finished' }, 'Type: must be one of'],
    ['JSONata in a state', { ...task, QueryLanguage: 'JSONata' }, '"QueryLanguage"'],
    ['JSONata arguments', { ...task, Arguments: '{% $states.input %}' }, '"Arguments"'],
    ['variables', { ...task, Assign: { x: 1 } }, '"Assign"'],
    ['ResultSelector', { ...task, ResultSelector: { 'x.$': '$.y' } }, '"ResultSelector"'],
    ['a heartbeat', { ...task, HeartbeatSeconds: 5 }, '"HeartbeatSeconds"'],
    ['a timeout from the input', { ...task, TimeoutSecondsPath: '$.timeout' }, '"TimeoutSecondsPath"'],
    ['a timeout of zero', { ...task, TimeoutSeconds: 0 }, 'TimeoutSeconds: Too small'],
    ['a misspelled Next', { Type: 'Task', Resource: '${Work}', Nxet: 'Finished' }, '"Nxet"'],
    ['neither Next nor End', { Type: 'Task', Resource: '${Work}' }, 'Next: Invalid input'],
    ['both Next and End', { ...task, End: true }, '"End"'],
    ['OutputPath', { ...task, OutputPath: '$' }, '"OutputPath"'],
    ['InputPath null', { ...task, InputPath: null }, 'InputPath:'],
    ['ResultPath null', { ...task, ResultPath: null }, 'ResultPath:'],
    ['nested parameters', { ...task, Parameters: { a: { 'x.$': '$.x' } } }, 'Parameters.a: must be text'],
    ['parameters in a list', { ...task, Parameters: { a: [1] } }, 'Parameters.a: must be text'],
    ['a Next that leads nowhere', { ...task, Next: 'Finnished' }, 'Next: there is no state "Finnished"'],
    [
      'a Catch that leads nowhere',
      { ...task, Catch: [{ ErrorEquals: ['E'], Next: 'X' }] },
      'Catch[0].Next: there is no state "X"',
    ],
    ['a Default that leads nowhere', { ...choice, Default: 'X' }, 'Default: there is no state "X"'],
    [
      'a rule that leads nowhere',
      { ...choice, Choices: [{ ...rule, Next: 'X' }] },
      'Choices[0].Next: there is no state "X"',
    ],
    [
      'an ARN as resource',
      { ...task, Resource: 'arn:aws:lambda:eu-west-1:1:function:x' },
      'Resource: must be a substitution',
    ],
    [
      'a resource that nothing is given for',
      { ...task, Resource: '${Wrok}' },
      'Resource: nothing is given for ${Wrok}',
    ],
    [
      'an intrinsic function',
      { ...task, Parameters: { 'x.$': "States.Format('{}', $.y)" } },
      'Parameters.x.$: "States.Format',
    ],
    [
      'the context object',
      { ...task, Parameters: { 'x.$': '$$.Execution.Name' } },
      'Parameters.x.$: "$$.Execution.Name"',
    ],
    ['a descent', { ...task, InputPath: '$..a' }, 'InputPath: "$..a"'],
    ['a filter', { ...task, InputPath: '$.a[?(@.b > 1)]' }, 'InputPath: "$.a[?'],
    ['an index', { ...task, ResultPath: '$.a[0]' }, 'ResultPath: "$.a[0]"'],
    ['a bracket', { ...task, Parameters: { 'x.$': "$['a']" } }, 'Parameters.x.$'],
    ['a wildcard', { ...wait, TimestampPath: '$.*' }, 'TimestampPath: "$.*"'],
    ['a path that is no string', { ...task, Parameters: { 'x.$': 7 } }, 'Parameters.x.$'],
    ['a parameter set twice', { ...task, Parameters: { x: 1, 'x.$': '$.x' } }, '"x" is set twice'],
    [
      'IntervalSeconds 0',
      { ...task, Retry: [{ ...retrier, IntervalSeconds: 0 }] },
      'Retry[0].IntervalSeconds: Too small',
    ],
    ['BackoffRate below 1', { ...task, Retry: [{ ...retrier, BackoffRate: 0.5 }] }, 'Retry[0].BackoffRate'],
    [
      'a fraction of an attempt',
      { ...task, Retry: [{ ...retrier, MaxAttempts: 1.5 }] },
      'Retry[0].MaxAttempts',
    ],
    [
      'an unknown jitter',
      { ...task, Retry: [{ ...retrier, JitterStrategy: 'HALF' }] },
      'Retry[0].JitterStrategy',
    ],
    ['a misspelled field of a retrier', { ...task, Retry: [{ ...retrier, MaxDelay: 3 }] }, '"MaxDelay"'],
    ['an empty ErrorEquals', { ...task, Retry: [{ ErrorEquals: [] }] }, 'Retry[0].ErrorEquals: Too small'],
    [
      'an error that is never raised',
      { ...task, Retry: [{ ErrorEquals: ['States.HeartbeatTimeout'] }] },
      'States.HeartbeatTimeout is no error',
    ],
    [
      'States.TaskFailed',
      { ...task, Retry: [{ ErrorEquals: ['States.TaskFailed'] }] },
      'States.TaskFailed is no error',
    ],
    ['a choice without a default', { Type: 'Choice', Choices: [rule] }, 'Default:'],
    [
      'a misspelled reserved error',
      { ...task, Retry: [{ ErrorEquals: ['States.TimeOut'] }] },
      'States.TimeOut is no error',
    ],
    [
      'catching what cannot be caught',
      { ...task, Catch: [{ ErrorEquals: ['States.Runtime'], Next: 'Finished' }] },
      'States.Runtime is no error',
    ],
    [
      'States.ALL in company',
      { ...task, Retry: [{ ErrorEquals: ['States.ALL', 'E'] }] },
      'States.ALL stands alone',
    ],
    [
      'States.ALL before others',
      { ...task, Retry: [{ ErrorEquals: ['States.ALL'] }, retrier] },
      'States.ALL comes last',
    ],
    ['a catcher without Next', { ...task, Catch: [{ ErrorEquals: ['E'] }] }, 'Catch[0].Next'],
    ['a wait for seconds', { Type: 'Wait', Seconds: 1, Next: 'Finished' }, '"Seconds"'],
    ['a wait for nothing', { Type: 'Wait', Next: 'Finished' }, 'TimestampPath:'],
    ['SecondsPath', { Type: 'Wait', SecondsPath: '$.s', Next: 'Finished' }, '"SecondsPath"'],
    [
      'a fixed timestamp',
      { Type: 'Wait', Timestamp: '2026-01-01T00:00:00', Next: 'Finished' },
      '"Timestamp"',
    ],
    ['And in a choice', { ...choice, Choices: [{ And: [rule], Next: 'Finished' }] }, '"And"'],
    [
      'another comparison',
      { ...choice, Choices: [{ Variable: '$.x', IsPresent: true, Next: 'Finished' }] },
      '"IsPresent"',
    ],
    ['a comparison of text', { ...choice, Choices: [{ ...rule, StringEquals: 'x' }] }, '"StringEquals"'],
    [
      'a rule without a comparison',
      { ...choice, Choices: [{ Variable: '$.x', Next: 'Finished' }] },
      'BooleanEquals:',
    ],
    ['a choice without rules', { ...choice, Choices: [] }, 'Choices: Too small'],
    ['Succeed with a path', { Type: 'Succeed', OutputPath: '$.x' }, '"OutputPath"'],
    ['Fail with a path', { Type: 'Fail', CausePath: '$.x' }, '"CausePath"'],
  ])('a state with %s is rejected with its name and the construct', (_, state, construct) => {
    const problems = findProblems(definitionWith(state));
    expect(problems).toContain('State "First"');
    expect(problems).toContain(construct);
  });

  test('unreachable states are rejected, even if they lead to each other', () => {
    const { StartAt, States } = definitionWith(task);
    const lost = { Lost: { ...wait, Next: 'Also lost' }, 'Also lost': { ...wait, Next: 'Lost' } };
    expect(findProblems({ StartAt, States: { ...States, ...lost } })).toBe(
      'State "Lost": no state leads to it\nState "Also lost": no state leads to it',
    );
  });

  test.each([
    ['JSONata', { QueryLanguage: 'JSONata' }, '"QueryLanguage"'],
    ['a timeout of the whole', { TimeoutSeconds: 60 }, '"TimeoutSeconds"'],
    ['a start that leads nowhere', { StartAt: 'Frist' }, 'StartAt: there is no state "Frist"'],
    ['no states', { States: undefined }, 'States:'],
  ])('a definition with %s is rejected', (_, fields, construct) => {
    expect(findProblems({ ...definitionWith(task), ...fields })).toContain(construct);
  });

  test.each([
    ['null', null],
    ['text', '{}'],
    ['a list', []],
  ])('the value %s is rejected as a definition', (_, definition) => {
    expect(findProblems(definition)).toContain('The definition: ');
  });
});
