import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadWorkflow } from '../../../adapters/embedded/workflow/definition.ts';
import { estimate } from '../../../cli/cost/estimate.ts';
import { priceOfModel } from '../../../cli/cost/list-prices.ts';
import { transitionsPerTick } from '../../../cli/cost/transitions-per-tick.ts';
import { units } from '../../../cli/cost/units.ts';

const definition = JSON.parse(readFileSync('workflow/watch.asl.json', 'utf8'));
const resources = ['CaptureFunctionArn', 'AnalyzeFunctionArn'];
const frames = {
  intervalSeconds: 10,
  mode: 'frames',
  clipSeconds: 3,
  skippedShare: 0,
  alertsPerHour: 1,
  model: 'amazon.nova-lite-v1:0',
} as const;

describe('transitions', () => {
  test('a tick of the workflow takes four transitions', () => {
    expect(transitionsPerTick(loadWorkflow(definition, resources))).toBe(4);
  });

  test('an additional state in the loop adds one transition', () => {
    const longer = structuredClone(definition);
    longer.States.Rest = { ...longer.States.Pause, Next: 'Capture' };
    longer.States.Pause.Next = 'Rest';
    expect(transitionsPerTick(loadWorkflow(longer, resources))).toBe(5);
  });
});

describe('a stream-hour', () => {
  test('a stream-hour at 10 s with frames and the cheapest video model costs less than ten cents', async () => {
    const { total } = await estimate(frames);
    expect(total).toBeGreaterThan(0.03);
    expect(total).toBeLessThan(0.1);
  });

  test('a stream-hour is the sum of its lines, with the transitions of 360 ticks', async () => {
    const { lines, total } = await estimate(frames);
    expect(lines.reduce((sum, { dollars }) => sum + dollars, 0)).toBeCloseTo(total, 10);
    const [transitions] = lines;
    expect(transitions).toMatchObject({ item: 'Step Functions', quantity: 1440 });
    expect(transitions?.dollars).toBeCloseTo(0.036, 6);
  });

  test('a stream-hour with every capture skipped has no model cost, and half of it with half skipped', async () => {
    const modelCost = async (skippedShare: number) => {
      const { lines } = await estimate({ ...frames, skippedShare });
      return lines
        .filter(({ item }) => item.startsWith('Model'))
        .reduce((sum, { dollars }) => sum + dollars, 0);
    };
    const whole = await modelCost(0);
    expect(whole).toBeGreaterThan(0);
    expect(await modelCost(0.5)).toBeCloseTo(whole / 2, 10);
    expect(await modelCost(1)).toBe(0);
  });

  test('a stream-hour costs more with a clip, and most with both', async () => {
    const [frame, clip, hybrid] = await Promise.all(
      (['frames', 'clip', 'hybrid'] as const).map(
        async (mode) => (await estimate({ ...frames, mode })).total,
      ),
    );
    expect(frame).toBeLessThan(clip!);
    expect(clip).toBeLessThan(hybrid!);
  });

  test('an estimate for a model without video support or without a price throws a remediation', async () => {
    const claude = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
    await expect(estimate({ ...frames, mode: 'clip', model: claude })).rejects.toMatchObject({
      remediation: expect.stringContaining('--mode frames'),
    });
    await expect(estimate({ ...frames, model: 'acme.seer-v1' })).rejects.toMatchObject({
      remediation: expect.stringContaining('amazon.nova-lite'),
    });
  });
});

describe('the price of a model', () => {
  test.each([
    ['amazon.nova-lite-v1:0', 0.06],
    ['us.amazon.nova-lite-v1:0', 0.06],
    ['nova-lite', 0.06],
    ['global.amazon.nova-2-lite-v1:0', 0.33],
    ['eu.amazon.nova-pro-v1:0', 0.8],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 1],
  ])('the model %s costs $%f per million input tokens', (id, dollars) => {
    expect((priceOfModel(id)?.input ?? 0) * 1e6).toBeCloseTo(dollars, 6);
  });

  test('a model with a similar name has no price', () => {
    expect(priceOfModel('amazon.nova-lite-next')).toBeUndefined();
  });
});

test('the memory of the estimate equals that of the stack', () => {
  const readMemory = (file: string) =>
    Number(/memoryMegabytes: (\d+)/.exec(readFileSync(`lib/${file}`, 'utf8'))?.[1]);
  expect(readMemory('capture-function.ts')).toBe(units.capture.megabytes);
  expect(readMemory('analyze-function.ts')).toBe(units.analyze.megabytes);
  expect(readMemory('webhook-delivery.ts')).toBe(units.deliver.megabytes);
});
