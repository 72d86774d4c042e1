import { describe, expect, test } from 'vitest';
import { queueMessageSchema } from '../../../core/records/delivery.ts';
import {
  analyzeInputSchema,
  captureInputSchema,
  executionInputSchema,
  workflowStateSchema,
} from '../../../core/records/workflow.ts';
import { createMonitor } from '../../../core/job/create-monitor.ts';
import { createWorld, monitorRequest } from '../../support/world.ts';

/**
 * Messages and workflow data as the release before wrote them: without the fields that were added since. During an upgrade they are in the
 * queue and in running executions. After a rollback, the release before reads what this one wrote. Change a fixture only after a release.
 */
const ids = {
  job_id: '0d9c9d52-6b8a-4d3f-9a63-0b3f4f1c2a10',
  source_id: '5f0a4a0e-2f6c-4b7d-8f2e-7c1f7f0f3b21',
  alert_id: 'b5e0f3a7-9c1e-4d43-a0a8-3f6a3c0b5d32',
};
const at = '2026-11-20T10:00:00.000Z';
const seen = {
  position: { segment: '120:ab12', segment_seconds: 4 },
  since: at,
  identical_since: null,
  seen_at: at,
};
const capture = {
  source_id: ids.source_id,
  tick: 7,
  closing: false,
  resolve_again: false,
  seen,
  motion: 'bW90aW9u',
};
const execution = { job_id: ids.job_id, generation: 2 };
const state = { ...execution, done: false, wait_until: at, capture };
const delivery = { job_id: ids.job_id, sequence: 3, resend: 0 };

const captured = [
  {
    kind: 'captured',
    frame_key: 'captures/frame.jpg',
    clip_key: null,
    captured_at: at,
    seen,
    repeated: false,
    moved: true,
    changed_share: 0.2,
    black: false,
    motion_if_looked: 'bG9va2Vk',
    motion_if_skipped: 'c2tpcHBlZA==',
  },
  { kind: 'ended', message: 'Stream has ended' },
  { kind: 'failed', code: 'STREAM_FETCH_FAILED', message: 'Failed', remediation: 'Check the URL.' },
  { kind: 'unavailable', message: 'The disk is full' },
  { kind: 'not_captured' },
];

describe('data of the release before', () => {
  test('a queued delivery is read as a first attempt', () => {
    expect(queueMessageSchema.parse(delivery)).toEqual({ ...delivery, attempt: 0 });
  });

  test('a queued message of a watch is read', () => {
    const message = { watch_id: ids.job_id, sequence: 1, destination_id: 'team', alert_id: ids.alert_id };
    expect(queueMessageSchema.parse(message)).toEqual(message);
  });

  test('the inputs of executions and captures are read', () => {
    expect(executionInputSchema.parse(execution)).toEqual(execution);
    expect(captureInputSchema.parse(capture)).toEqual(capture);
    expect(workflowStateSchema.parse(state)).toEqual(state);
  });

  test.each(captured)('a tick with the capture $kind is analyzed', (each) => {
    const input = { operation: 'analyze', ...execution, capture, captured: each };
    expect(analyzeInputSchema.parse(input)).toMatchObject(input);
  });

  test.each([
    { operation: 'begin', ...execution },
    { operation: 'close', ...execution, failure: { Error: 'States.Timeout' } },
  ])('the task $operation is read', (input) => {
    expect(analyzeInputSchema.parse(input)).toEqual(input);
  });
});

describe('data for the release before', () => {
  test('the state of the workflow has the fields that it reads, with their types', async () => {
    const world = createWorld();
    try {
      const { job_id } = await createMonitor(monitorRequest(), 'harbour', world.c);
      const begun = await world.begin({ job_id, generation: 0 });
      const fresh = { ...state, capture: { ...capture, seen: null, motion: null } };
      expect(toTypes(JSON.parse(JSON.stringify(begun)))).toMatchObject(toTypes(fresh));
    } finally {
      world.close();
    }
  });
});

/** Returns the value with its texts, numbers and booleans replaced by the names of their types. */
function toTypes(value: any): any {
  if (value === null || typeof value !== 'object') return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toTypes(inner)]));
}
