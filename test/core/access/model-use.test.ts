import { describe, expect, test } from 'vitest';
import { createCallerUsage } from '../../../adapters/caller-usage.ts';
import { createUsageLedger } from '../../../adapters/embedded/callers/usage.ts';
import { meteredVision } from '../../../adapters/vision/metered-vision.ts';
import { readUsage } from '../../../core/access/caller-usage.ts';
import { ModelBusyError, VisionError } from '../../../core/vision-errors.ts';
import { summarizeWindows } from '../../../core/policies/digest/summarize-windows.ts';
import type { JobOf } from '../../../core/records/job.ts';
import { analyzeFrame } from '../../../core/stream/analyze-frame.ts';
import { checkOnce } from '../../../core/stream/check-once.ts';
import { editWatch } from '../../../core/watch/edit-watch.ts';
import { presentWatch } from '../../../core/watch/present-watch.ts';
import { previewWatch } from '../../../core/watch/preview-watch.ts';
import { readWatchStats } from '../../../core/watch/watch-stats.ts';
import { watchPatchSchema, watchRequestSchema } from '../../../core/requests/watches.ts';
import { testPicture } from '../../../core/observability/model-status.ts';
import { createWatch, stored, watchId, world } from '../../support/watches/watch-world.ts';
import { judgingEach, scriptedModel } from '../../support/scripted-model.ts';

const tokens = { input_tokens: 1000, output_tokens: 20 };
const price = { input: 0.06e-6, output: 0.24e-6, pictureTokens: 0, videoTokensPerSecond: 0 };
const paid = { calls: 1, micro_usd: 65, ...tokens };
const nothing = { calls: 0, errors: 0, micro_usd: 0, input_tokens: 0, output_tokens: 0 };

const unpaid = { ...nothing, calls: 1, errors: 1 };
const fails = (error: () => Error) => async (): Promise<never> => {
  throw error();
};

/** Ends of a model call, and what each costs everywhere. */
const ends: { name: string; end: (signal: AbortSignal) => Promise<void>; cost: typeof nothing }[] = [
  { name: 'answers', end: async () => undefined, cost: { ...paid, errors: 0 } },
  { name: 'cannot be reached', end: fails(() => new VisionError('Start it.')), cost: unpaid },
  {
    name: 'does not answer in time',
    end: async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      throw new VisionError('Too late.');
    },
    cost: unpaid,
  },
  {
    name: 'gives an answer that is not usable',
    end: fails(() => new VisionError('Use another model.', { calls: [{ ...tokens, failed: true }] })),
    cost: { ...paid, errors: 1 },
  },
  { name: 'is busy', end: fails(() => new ModelBusyError()), cost: nothing },
  {
    name: 'is not called, because its picture cannot be prepared',
    end: fails(() => new VisionError('Try again.', { calls: [] })),
    cost: nothing,
  },
];

/** Creates a watch whose model ends each call as given, with one price for all. */
async function createPaidWatch(
  end: (signal: AbortSignal) => Promise<void>,
  modelPrice: typeof price | null = price,
) {
  const budget = { model_calls_per_day: 1000, usd_per_day: modelPrice && 1 };
  const step = await createWatch({ conditions: ['person'], budget });
  const { c, database } = world;
  database.prepare('INSERT OR IGNORE INTO callers VALUES (?, ?)').run('caller', '{}');
  c.modelPrice = modelPrice;
  c.usage = createCallerUsage({
    ledger: createUsageLedger(database),
    modelPrice,
    log: c.log,
    now: c.now,
  });
  c.limits.visionTimeoutSeconds = 0.02;
  const model = scriptedModel({
    provider: 'paid',
    model: 'paid',
    capabilities: { supportsVideo: true },
    judge: judgingEach(async (_media, _condition, signal) => {
      await end(signal);
      return { triggered: false, explanation: 'Nobody.', tokens };
    }),
    answer: async (_frame, _question, signal) => {
      await end(signal);
      return { answer: 'Nobody.', triggered: false, tokens };
    },
    summarize: async (_samples, signal) => {
      await end(signal);
      return { summary: 'Nothing.', tokens };
    },
  });
  c.vision = meteredVision(model, c.meter);
  return step;
}

async function readLedgers() {
  const { c } = world;
  const usage = await readUsage({ caller: 'caller', scopes: [] } as never, { limit: 10 } as never, c);
  const { total } = await readWatchStats({ watchId, from: undefined, to: undefined }, 'caller', c);
  const budget = presentWatch(await stored(), c.now()).state.budget ?? { model_calls: 0, usd: 0 };
  const metrics = (await c.meter.read()).providers['paid'] ?? { calls: 0, errors: 0 };
  const micro = (usd: number | null) => Math.round((usd ?? NaN) * 1e6);
  const used = usage.callers[0]!;
  return {
    usage: {
      calls: used.model_calls,
      errors: used.model_errors,
      micro_usd: micro(used.cost_usd),
      input_tokens: used.input_tokens,
      output_tokens: used.output_tokens,
    },
    stats: {
      calls: total.model_calls,
      errors: total.model_failures,
      micro_usd: micro(total.usd),
      input_tokens: total.input_tokens,
      output_tokens: total.output_tokens,
    },
    budget: { calls: budget.model_calls, micro_usd: micro(budget.usd) },
    metrics,
  };
}

describe.each(ends)('a model that $name', ({ end, cost }) => {
  const { calls, errors, micro_usd } = cost;

  test('a check costs the same in the use of the caller, the statistics of the watch, its budget and the metrics', async () => {
    const step = await createPaidWatch(end);
    await world.tick(step);
    expect(await readLedgers()).toEqual({
      usage: cost,
      stats: cost,
      budget: { calls, micro_usd },
      metrics: { calls, errors },
    });
  });

  const media = async () => {
    await world.c.media.put('captures/a/1.jpg', testPicture, 'image/jpeg');
    return { frame_key: 'captures/a/1.jpg', captured_at: world.clock.now.toISOString() };
  };
  const check = {
    url: 'https://example.com/live.m3u8',
    condition: 'x',
    mode: 'frames',
    clipSeconds: 3,
  } as const;
  const job = { caller: 'caller', config: { include_frames: false }, sight: {} } as JobOf<'digest'>;
  const question = Buffer.from(testPicture).toString('base64');
  test.each<[string, () => Promise<unknown>]>([
    ['check without a job', async () => checkOnce(check, 'caller', world.c)],
    ['preview', async () => previewWatch({ watchId, mode: undefined }, 'caller', world.c)],
    ['question about a frame', async () => analyzeFrame(question, 'Who?', 'caller', world.c)],
    [
      'summary of a window',
      async () => {
        const closing = { spans: [], samples: [await media()], last: false, end: null };
        return summarizeWindows(job, closing, world.c, { seconds: 0.02 });
      },
    ],
  ])('a %s costs the same in the use of the caller and the metrics', async (_, work) => {
    await createPaidWatch(end);
    await work().catch((error: unknown) => expect(error).toBeInstanceOf(VisionError));
    const { usage, metrics } = await readLedgers();
    expect({ usage, metrics }).toEqual({ usage: cost, metrics: { calls, errors } });
  });
});

test('failed calls that cost nothing do not exhaust a budget in dollars', async () => {
  let step = await createPaidWatch(ends[1]!.end);
  for (let tick = 0; tick < 900; tick += 1) step = await world.tick(step);
  expect((await stored()).status).toBe('active');
});

test('a check that a change and its next check overtake is counted once in the budget, at its cost', async () => {
  let edits = 0;
  let isEdited = false;
  let step = await createPaidWatch(async () => {
    if (isEdited) return;
    isEdited = true;
    edits += 1;
    world.advance(1);
    const patch = watchPatchSchema.parse({ name: `n${edits}` });
    const { generation } = await editWatch(
      { watchId, patch, ifMatch: undefined },
      'caller',
      world.c,
      (merged) => watchRequestSchema.parse(merged),
    );
    await world.tick(await world.begin({ run_id: watchId, generation }));
  });
  for (let tick = 0; tick < 5; tick += 1) {
    isEdited = false;
    await world.tick(step);
    step = await world.begin({ run_id: watchId, generation: (await stored()).generation });
  }
  const { usage, stats, budget } = await readLedgers();
  expect(edits).toBe(5);
  expect({ stats, budget }).toEqual({
    stats: usage,
    budget: { calls: usage.calls, micro_usd: usage.micro_usd },
  });
});

test('a check that ends after midnight counts on the day of its end in every ledger', async () => {
  const step = await createPaidWatch(async () => world.advance(13 * 3600));
  await world.tick(step);
  const { usage, budget } = await readLedgers();
  expect(usage.calls).toBe(1);
  expect(budget).toEqual({ calls: 1, micro_usd: 65 });
});

test('the use of a day counts also before a budget is set', async () => {
  let step = await createPaidWatch(async () => undefined);
  const patch = async (fields: object) => {
    const edit = { watchId, patch: watchPatchSchema.parse(fields), ifMatch: undefined };
    const { generation } = await editWatch(edit, 'caller', world.c, (merged) =>
      watchRequestSchema.parse(merged),
    );
    step = await world.begin({ run_id: watchId, generation });
  };
  await patch({ budget: null });
  step = await world.tick(step);
  await patch({ budget: { model_calls_per_day: 1000 } });
  await world.tick(step);
  expect((await readLedgers()).budget.calls).toBe(2);
});

test('a model without a price has no cost in any ledger', async () => {
  const step = await createPaidWatch(async () => undefined, null);
  await world.tick(step);
  const { usage, stats, budget } = await readLedgers();
  expect(stats).toMatchObject({ calls: 1, micro_usd: NaN });
  expect(budget).toEqual({ calls: 1, micro_usd: NaN });
  expect(usage).toMatchObject({ calls: 1, micro_usd: NaN });
});
