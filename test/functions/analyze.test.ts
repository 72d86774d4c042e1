import { beforeEach, describe, expect, test, vi } from 'vitest';
import { InvocationError, type Invoke } from '../../adapters/aws/invoke/invoke.ts';
import { createRemoteModel, createRemoteSummarizer } from '../../adapters/aws/invoke/remote-model.ts';
import { TransientError } from '../../core/errors.ts';
import { VisionError } from '../../core/vision-errors.ts';
import { createDigest, createMonitor } from '../support/create-jobs.ts';
import { cancelJob } from '../../core/job/end-job.ts';
import type { WorkflowState } from '../../core/records/workflow.ts';
import { addCut, type BurstCuts } from '../../core/workflow/burst.ts';
import { createHandler } from '../../functions/analyze/handler.ts';
import { createWorld, digestRequest, monitorRequest, type World } from '../support/world.ts';
import { visionProviders } from '../../adapters/vision/aws-provider-registry.ts';
import { during, lambdaContext } from './lambda-context.ts';
import { judgeCondition, type Called, type CheckMedia } from '../../core/ports/vision-model.ts';
import type { ConditionQuestion, ConditionVerdict, MomentVerdicts } from '../../core/records/vision.ts';

const described = (modelId?: string) => visionProviders.bedrock.describeModel(modelId);

let world: World;
beforeEach(() => {
  world = createWorld();
});

let measured: string[] = [];
const measurements = { add: (name: string) => void measured.push(name) };
const handle = (event: unknown) =>
  createHandler({ ...world.c, during, measurements, burstCuts })(event, lambdaContext());
/** Cuts of bursts, as the table keeps them. */
let cuts: BurstCuts | undefined;
const burstCuts = {
  read: async () => cuts,
  add: async (seconds: number) => void (cuts = addCut(cuts, seconds, world.c.now())),
};
const invoke: Invoke = async (payload) =>
  JSON.parse(JSON.stringify((await handle(JSON.parse(JSON.stringify(payload)))) ?? null));
const signal = new AbortController().signal;

describe('analyze: workflow tasks', () => {
  test('analyze begins a job, analyzes its captures and closes it', async () => {
    const job = await createMonitor(monitorRequest(), 'harbour', world.c);
    const execution = { run_id: job.run_id, generation: 0 };

    const step = (await handle({ ...execution, operation: 'begin' })) as WorkflowState;
    expect(step).toMatchObject({ ...execution, done: false, capture: { tick: 1 } });

    const captured = {
      kind: 'failed',
      code: 'STREAM_FETCH_FAILED',
      message: 'm',
      remediation: 'r',
      access_refused: false,
      began_at: world.clock.now.toISOString(),
    };
    const next = await handle({ ...execution, operation: 'analyze', capture: step.capture, captured });
    expect(next).toMatchObject({ done: false, capture: { tick: 2, resolve_again: true } });

    const failure = { Error: 'States.Timeout', Cause: 'late' };
    expect(await handle({ ...execution, operation: 'close', failure })).toMatchObject({ done: true });
    expect(await world.c.jobs.getIncludingEnded(job.run_id)).toMatchObject({
      status: 'failed',
      reason: 'internal_error',
    });
  });

  test('a tick that begins a minute later than planned is counted as late', async () => {
    const job = await createMonitor(monitorRequest(), 'harbour', world.c);
    const execution = { run_id: job.run_id, generation: 0 };
    const { capture } = (await handle({ ...execution, operation: 'begin' })) as WorkflowState;
    const captured = { kind: 'unavailable', message: 'm', began_at: world.clock.now.toISOString() };
    const ago = (seconds: number) => new Date(world.c.now().getTime() - seconds * 1000).toISOString();
    const tick = (planned_at?: string) =>
      handle({ ...execution, operation: 'analyze', capture, captured, ...(planned_at && { planned_at }) });

    measured = [];
    await tick();
    await tick(ago(59));
    expect(measured).not.toContain('LateTicks');
    await tick(ago(61));
    expect(measured).toContain('LateTicks');
  });

  test('a deployment whose bursts are cut after a minute has shorter ones, and its job continues', async () => {
    cuts = undefined;
    measured = [];
    const job = await createMonitor(monitorRequest(), 'harbour', world.c);
    const execution = { run_id: job.run_id, generation: 0 };
    const at = (seconds: number) => new Date(world.c.now().getTime() + seconds * 1000).toISOString();
    const failures = [
      { Error: 'None' },
      { Error: 'Burst.CUT', began_at: at(-1), ended_at: at(0) },
      ...Array.from({ length: 3 }, () => ({ Error: 'Burst.CUT', began_at: at(-60), ended_at: at(0) })),
    ];
    let state: any;
    for (const failure of failures)
      state = await handle({ ...execution, operation: 'begin', bursts: true, failure });
    expect(state).toMatchObject({ done: false, burst: 5, next_burst_at: at(0) });
    expect(measured.filter((name) => name === 'BurstsCut')).toHaveLength(3);

    const next: any = await handle({
      ...execution,
      operation: 'analyze',
      capture: state.capture,
      captured: { kind: 'unavailable', message: 'm', began_at: world.clock.now.toISOString() },
      burst: state.burst,
      burst_started_at: at(-6),
      burst_seconds: 240,
    });
    expect(next).toMatchObject({ done: true, over: false, rests: false, next_burst_at: at(0) });
  });

  test('analyze closes a job without stopping its own execution, which then ends as failed', async () => {
    const stop = vi.spyOn(world.c.executions, 'stop');
    const job = await createMonitor(monitorRequest(), 'harbour', world.c);
    const execution = { run_id: job.run_id, generation: 0 };
    await handle({ ...execution, operation: 'begin' });
    await handle({ ...execution, operation: 'close', failure: { Error: 'TypeError', Cause: 'a defect' } });
    expect(await world.c.jobs.getIncludingEnded(job.run_id)).toMatchObject({ status: 'failed' });
    expect(stop).not.toHaveBeenCalled();
  });

  test('analyze throws a transient error under the name that the workflow retries', async () => {
    world.c.runs = { ...world.c.runs, get: async () => Promise.reject(new TransientError('throttled')) };
    const run_id = '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001';

    await expect(handle({ operation: 'begin', run_id, generation: 0 })).rejects.toMatchObject({
      name: 'TransientError',
    });
  });

  test('analyze throws for an invalid input', async () => {
    await expect(handle({ operation: 'begin', run_id: 'x' })).rejects.toThrow();
  });
});

describe('analyze: model calls of other functions', () => {
  const model = (call: Invoke = invoke) =>
    createRemoteModel({ invoke: call, seconds: 18, model: described() });
  const look = { mode: 'hybrid', frame: Buffer.from([255, 216]), clip: Buffer.from([0, 1]) } as const;

  test('each field of a check, of its conditions and of its answer passes between the functions', async () => {
    const media: Required<CheckMedia> = {
      mode: 'hybrid',
      frame: Buffer.from([255, 216]),
      clip: Buffer.from([0, 1]),
      earlier: [{ frame: Buffer.from([2]), secondsBefore: 1.5 }],
      previous: Buffer.from([3]),
      regions: [{ mode: 'exclude', points: [[0, 0.5]] }],
      describes: true,
    };
    const questions: Required<ConditionQuestion>[] = [
      { condition_id: 'ship', condition: 'a ship', sensitivity: 'high' },
    ];
    const verdict: Required<ConditionVerdict> = {
      condition_id: 'ship',
      triggered: null,
      explanation: 'Fog.',
      boxes: [{ label: 'boat', score: 0.5, x: 0, y: 0, width: 1, height: 1 }],
      shown_at_seconds: 1.5,
      prompt_version: 'strict-1',
      unsure: true,
    };
    const tokens = { input_tokens: 10, output_tokens: 2 };
    const answer: Required<MomentVerdicts & Called> = {
      moments: [[verdict], []],
      scene: 'A ship in fog',
      objects: ['boat'],
      tokens,
      calls: [{ ...tokens, failed: true }, tokens],
    };
    const seen: unknown[] = [];
    world.c.vision.judge = async (...given) => {
      seen.push(given[0], given[1]);
      return answer;
    };

    expect(await model().judge(media, questions, signal)).toEqual(answer);
    expect(seen).toEqual([media, questions]);
  });

  test('an answer that is not judged says so between the functions', async () => {
    world.script.answers.push({ answer: 'Unclear.', triggered: null, judged: false });

    expect(await model().answer(look.frame, 'A dragon?', signal)).toMatchObject({ judged: false });
  });

  test('a model error keeps its remediation between functions', async () => {
    world.script.verdicts.push(new VisionError('Ask AWS for a higher quota.'));

    await expect(judgeCondition(model(), look, { condition: 'a ship' }, signal)).rejects.toMatchObject({
      code: 'VLM_ERROR',
      remediation: 'Ask AWS for a higher quota.',
    });
  });

  test('an unreachable or slow analyze function is reported as a model error', async () => {
    const late = new AbortController();
    const hanging: Invoke = async (_, given) =>
      new Promise((_resolve, reject) => given.addEventListener('abort', () => reject(new Error('aborted'))));
    const asked = judgeCondition(model(hanging), look, { condition: 'a ship' }, late.signal);
    late.abort();

    await expect(asked).rejects.toThrow(VisionError);
    const throttled: Invoke = async () => Promise.reject(new TransientError('throttled'));
    await expect(judgeCondition(model(throttled), look, { condition: 'a ship' }, signal)).rejects.toThrow(
      VisionError,
    );
  });

  test('a defect in analyze stays a defect in the caller', async () => {
    const broken: Invoke = async () => Promise.reject(new InvocationError('failed'));

    await expect(judgeCondition(model(broken), look, { condition: 'a ship' }, signal)).rejects.toThrow(
      InvocationError,
    );
  });

  test('the remote model reports its video support without a request', () => {
    const named = (modelId: string | undefined) =>
      createRemoteModel({ invoke, seconds: 1, model: described(modelId) });

    expect(named(undefined)).toMatchObject({
      provider: 'bedrock',
      capabilities: { supportsVideo: true },
    });
    expect(named('us.anthropic.claude-haiku-4-5-20251001-v1:0').capabilities.supportsVideo).toBe(false);
  });
});

describe('analyze: last window of a cancelled digest', () => {
  async function cancelled(call: Invoke = invoke) {
    const job = await createDigest(digestRequest({ include_frames: true }), 'harbour', world.c);
    await world.tick(await world.begin({ run_id: job.run_id, generation: 0 }));
    world.advance(30);
    const summaries = createRemoteSummarizer(call);
    const ended = await cancelJob(job.run_id, 'harbour', { ...world.c, summaries });
    const [summary] = await world.c.jobs.newestEvents(job.run_id, 'summary_generated', 1);
    return { ended, summary };
  }

  test('analyze summarizes the last window from its samples, with the frame grid', async () => {
    world.script.summaries.push('A barge came.');

    const { ended, summary } = await cancelled();

    expect(ended).toMatchObject({ status: 'stopped', reason: 'cancelled' });
    expect(summary?.data).toMatchObject({ summary: 'A barge came.', partial: true, frames_captured: 1 });
    expect(summary?.data).toHaveProperty('frame_grid_key');
    expect(world.summarized[0]).toHaveLength(1);
  });

  test('the job ends without a summary if analyze cannot be called', async () => {
    const { ended, summary } = await cancelled(async () => Promise.reject(new TransientError('throttled')));

    expect(ended.status).toBe('stopped');
    expect(summary?.data).toMatchObject({ partial: true });
    expect(world.summarized).toEqual([]);
  });
});
