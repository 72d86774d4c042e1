import { expect, test } from 'vitest';
import { createMeter } from '../../../adapters/embedded/callers/usage.ts';
import { meteredVision } from '../../../adapters/vision/metered-vision.ts';
import { UnreadableFrameError } from '../../../core/errors.ts';
import { TooManyFramesError, VisionError } from '../../../core/vision-errors.ts';
import { noUsage } from '../../../core/ports/runs.ts';
import { start } from '../../contract/records.ts';
import { scriptedModel } from '../../support/scripted-model.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';

const tokens = { input_tokens: 1, output_tokens: 1 };
const ship = [{ condition_id: 'ship', condition: 'a ship' }];
const verdict = { condition_id: 'ship', triggered: true, explanation: 'There.' };
const look = { mode: 'frames' as const, frame: new Uint8Array() };
const { signal } = new AbortController();

function metered(overrides: Partial<VisionModel> = {}) {
  const meter = createMeter({ startedAt: start, jobsBefore: noUsage });
  const model = scriptedModel({
    provider: 'bedrock',
    model: 'nova',
    judge: async () => ({ moments: [[verdict], []], tokens }),
    answer: async () => ({ answer: 'Yes.', triggered: true, tokens }),
    summarize: async () => ({ summary: 'Nothing.', tokens }),
    ...overrides,
  });
  return { model: meteredVision(model, meter), counts: async () => (await meter.read()).providers };
}

test('a call whose frames are too many for the server is not counted, because each frame has one instead', async () => {
  const { model, counts } = metered({ judge: () => Promise.reject(new TooManyFramesError()) });
  await expect(model.judge(look, ship, signal)).rejects.toThrow(TooManyFramesError);
  expect(await counts()).toEqual({});
});

test('a frame that is rejected before the request is not counted', async () => {
  const { model, counts } = metered({
    answer: () => Promise.reject(new UnreadableFrameError('Send a whole one.')),
  });
  await expect(model.answer(new Uint8Array(), 'A ship?', signal)).rejects.toThrow(UnreadableFrameError);
  expect(await counts()).toEqual({});
});

test('an aborted call is not an error, a timed-out one is', async () => {
  const { model, counts } = metered({ judge: () => Promise.reject(new VisionError('Not in time.')) });
  const cancelled = AbortSignal.abort(new Error('The job was cancelled'));
  const late = AbortSignal.abort(new DOMException('Too late', 'TimeoutError'));
  await expect(model.judge(look, ship, cancelled)).rejects.toThrow(VisionError);
  await expect(model.judge(look, ship, late)).rejects.toThrow(VisionError);
  expect(await counts()).toEqual({ bedrock: { calls: 2, errors: 1 } });
});
