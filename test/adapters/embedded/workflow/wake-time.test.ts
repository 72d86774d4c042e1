import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../adapters/embedded/workflow/json.ts';
import { startExecution, nextAction } from '../../../../adapters/embedded/workflow/transition.ts';
import { loadWorkflow } from '../../../../adapters/embedded/workflow/definition.ts';
import { startOfTest } from './fake-clock.ts';

function enterWait(fields: object, input: Json = {}) {
  const States = { Wait: { Type: 'Wait', ...fields, Next: 'End' }, End: { Type: 'Succeed' } };
  const workflow = loadWorkflow({ StartAt: 'Wait', States }, []);
  const { progress } = startExecution(workflow, input, startOfTest);
  return { workflow, progress };
}

describe('a Wait state', () => {
  test.each<[string, object, Json, string]>([
    [
      'with a timestamp of its input ends at that time',
      { TimestampPath: '$.at' },
      { at: '2026-01-01T00:00:10Z' },
      '2026-01-01T00:00:10.000Z',
    ],
    [
      'accepts a timestamp with an offset',
      { TimestampPath: '$.at' },
      { at: '2026-01-01T02:00:10+02:00' },
      '2026-01-01T00:00:10.000Z',
    ],
    [
      'keeps milliseconds, unlike Step Functions',
      { TimestampPath: '$.at' },
      { at: '2026-01-01T00:00:10.999Z' },
      '2026-01-01T00:00:10.999Z',
    ],
    [
      'accepts a timestamp in the past',
      { TimestampPath: '$.at' },
      { at: '2025-01-01T00:00:00Z' },
      '2025-01-01T00:00:00.000Z',
    ],
  ])('a Wait state %s', (_, fields, input, wakeAt) => {
    const { workflow, progress } = enterWait(fields, input);
    expect(progress).toMatchObject({ status: 'running', state: 'Wait', wakeAt: new Date(wakeAt) });
    expect(progress.status === 'running' && nextAction(workflow, progress, startOfTest)).toEqual({
      kind: 'wait',
      until: new Date(wakeAt),
    });
  });

  test.each<[Json]>([[{ at: 'soon' }], [{ at: 7 }], [{}]])(
    'a value %j in place of a timestamp ends the execution',
    (input) => {
      const { progress } = enterWait({ TimestampPath: '$.at' }, input);
      expect(progress).toMatchObject({ status: 'failed', state: 'Wait', error: 'States.Runtime' });
    },
  );

  test('a clock that was set back during a wait does not extend it', () => {
    const { workflow, progress } = enterWait({ TimestampPath: '$.at' }, { at: '2026-01-01T00:00:30Z' });
    const hourBack = new Date(startOfTest.getTime() - 3_600_000);
    const action = progress.status === 'running' && nextAction(workflow, progress, hourBack);
    expect(action).toEqual({ kind: 'wait', until: new Date(hourBack.getTime() + 30_000) });
  });
});
