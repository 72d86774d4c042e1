import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { estimate, transitionsPerExecution, transitionsPerLoop } from '../../../cli/cost/estimate.ts';
import type { CostQuestion } from '../../../cli/cost/estimate.ts';
import { listPrices } from '../../../cli/cost/stream-hour.ts';
import { priceOfModel } from '../../../adapters/vision/bedrock/models.ts';
import { rules } from '../../../core/rules.ts';
import { units } from '../../../adapters/aws/usage-units.ts';

const readDefinition = (name: string) => JSON.parse(readFileSync(`lib/workflow/${name}.asl.json`, 'utf8'));
const run = readDefinition('run');
const bursts = readDefinition('bursts');
const frames = {
  intervalSeconds: 10,
  mode: 'frames',
  clipSeconds: 3,
  skippedShare: 0,
  alertsPerHour: 1,
  model: 'amazon.nova-lite-v1:0',
} as const;

describe('transitions', () => {
  test('a tick without bursts takes four transitions, and so does a burst', () => {
    expect(transitionsPerLoop(run)).toBe(4);
    expect(transitionsPerLoop(bursts)).toBe(4);
  });

  test('an execution of a job in bursts takes three transitions besides its bursts', () => {
    expect(transitionsPerExecution(bursts)).toBe(3);
  });

  test('an additional state in the loop adds one transition', () => {
    const longer = structuredClone(run);
    longer.States.Rest = { ...longer.States.Pause, Next: 'Capture' };
    longer.States.Pause.Next = 'Rest';
    expect(transitionsPerLoop(longer)).toBe(5);
  });
});

describe('a stream-hour', () => {
  test('a stream-hour of HLS at 10 s with the cheapest video model costs at most 5.5 cents in frames mode and 6.5 in clip mode', async () => {
    expect((await estimate(frames)).total).toBeLessThanOrEqual(0.055);
    expect((await estimate(frames)).total).toBeGreaterThan(0.03);
    expect((await estimate({ ...frames, mode: 'clip' })).total).toBeLessThanOrEqual(0.065);
  });

  test('a stream-hour is the sum of its lines, with the transitions of 18 bursts, three per execution, and an hour of their time', async () => {
    const { lines, total } = await estimate(frames);
    expect(lines.reduce((sum, { dollars }) => sum + dollars, 0)).toBeCloseTo(total, 10);
    const quantity = (item: string) => lines.find((line) => line.item === item)?.quantity;
    expect(quantity('Step Functions')).toBe(18 * 4 + 6 * 3);
    expect(quantity('Express requests')).toBe(18);
    expect(quantity('Express time')).toBe(225);
  });

  test('a stream-hour without bursts costs four transitions per tick, nearly as much as all bursts', async () => {
    const { lines, total } = await estimate({ ...frames, burstSeconds: 0 });
    const quantity = 1440 + 6 * transitionsPerExecution(run);
    expect(lines[0]).toMatchObject({ item: 'Step Functions', quantity });
    expect(total - (await estimate(frames)).total).toBeCloseTo(0.03, 2);
  });

  test('each webhook adds its units of the database to those of the ticks', async () => {
    const database = async (alertsPerHour: number) =>
      (await estimate({ ...frames, alertsPerHour })).lines
        .filter(({ item }) => item.startsWith('DynamoDB'))
        .map(({ quantity }) => quantity);
    expect(await database(0)).toEqual([7 * 360, 3 * 360]);
    expect(await database(2)).toEqual([7 * 360 + 28, 3 * 360 + 14]);
  });

  test('a memory costs at most 0.6 cents per stream-hour: a sentence of each check, and its item', async () => {
    const added = async (options: Partial<CostQuestion>) => {
      const question = { ...frames, ...options };
      return (await estimate({ ...question, remembers: true })).total - (await estimate(question)).total;
    };
    const { writeUnits, promptTokens, answerTokens } = units.memory;
    const { input, output } = priceOfModel('amazon.nova-lite-v1:0')!;
    const usd = promptTokens * input + answerTokens * output + writeUnits * listPrices.dynamoWriteUnit;
    expect(await added({})).toBeCloseTo(360 * usd, 10);
    expect(await added({})).toBeLessThanOrEqual(0.006);
    expect(await added({ framesPerCheck: 4 })).toBeLessThanOrEqual(0.006);
    expect(await added({ skippedShare: 1 })).toBe(0);
  });

  test('an open event stream costs about 2.5 cents per hour, a poll each second a cent', async () => {
    const base = (await estimate(frames)).total;
    expect((await estimate({ ...frames, readers: 1 })).total - base).toBeCloseTo(0.0245, 3);
    expect((await estimate({ ...frames, pollsPerHour: 3600 })).total - base).toBeCloseTo(0.0098, 3);
  });

  test('looking back with clips costs a call of its own for the earlier frames', async () => {
    const input = async (framesPerCheck?: number) => {
      const { lines } = await estimate({
        ...frames,
        mode: 'clip',
        ...(framesPerCheck && { framesPerCheck }),
      });
      return lines.find(({ item }) => item === 'Model, input')?.quantity ?? 0;
    };
    expect((await input(3)) - (await input())).toBeCloseTo(360 * (units.promptTokens + 2 * 800), 5);
    expect(await input(1)).toBe(await input());
  });

  test('bursts cost less than plain executions below their longest wait, and at most a tenth of a cent more above it', async () => {
    const saved = async (intervalSeconds: number) => {
      const without = await estimate({ ...frames, intervalSeconds, burstSeconds: 0 });
      return without.total - (await estimate({ ...frames, intervalSeconds })).total;
    };
    expect(await saved(60)).toBeCloseTo(0.002, 3);
    expect(await saved(rules.maxBurstWaitSeconds)).toBeCloseTo(0, 4);
    for (const seconds of [rules.maxBurstWaitSeconds + 1, 300]) {
      expect(await saved(seconds)).toBeLessThan(0);
      expect(await saved(seconds)).toBeGreaterThan(-0.001);
    }
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
  expect(readMemory('workflow/capture-function.ts')).toBe(units.capture.megabytes);
  expect(readMemory('workflow/analyze-function.ts')).toBe(units.analyze.megabytes);
  expect(readMemory('delivery/webhook-delivery.ts')).toBe(units.deliver.megabytes);
});

describe('the network of a stage', () => {
  const gateway = { streams: 1, megabitsPerSecond: 2 };

  test('a NAT gateway costs its hour, which the streams share, and the data of the captures', async () => {
    const { lines, total } = await estimate({ ...frames, gateway });
    const dollars = (item: string) => lines.find((line) => line.item === item)?.dollars ?? 0;
    expect(dollars('NAT gateway')).toBeCloseTo(0.05, 10);
    // 360 captures of 9 s at 2 Mbit/s.
    expect(dollars('NAT data')).toBeCloseTo(0.81 * listPrices.natGigabyte, 10);
    expect(total - (await estimate(frames)).total).toBeCloseTo(0.05 + 0.81 * listPrices.natGigabyte, 10);
    const shared = await estimate({ ...frames, gateway: { ...gateway, streams: 100 } });
    expect(total - shared.total).toBeCloseTo(0.05 * 0.99, 10);
  });

  test('looking back at a stream with one rendition requests all of it through the gateway', async () => {
    const { lines } = await estimate({ ...frames, gateway, framesPerCheck: 2 });
    // An hour at 2 Mbit/s.
    expect(lines.find(({ item }) => item === 'NAT data')?.quantity).toBeCloseTo(0.9, 10);
    const often = await estimate({ ...frames, gateway, framesPerCheck: 2, intervalSeconds: 5 });
    expect(often.lines.find(({ item }) => item === 'NAT data')?.quantity).toBeCloseTo(2 * 0.81, 10);
  });

  test('a REST origin bills the requests of event streams, one each 14 minutes', async () => {
    const restApi = { ...frames, readers: 1, streamOrigin: 'rest-api' } as const;
    const added = (await estimate(restApi)).total - (await estimate({ ...frames, readers: 1 })).total;
    expect(added).toBeCloseTo((3600 / 840) * listPrices.restApiRequest, 10);
  });
});

describe('the pages', () => {
  const readPage = (path: string) => readFileSync(path, 'utf8');
  const price = async (options: Partial<CostQuestion>) =>
    `$${(await estimate({ ...frames, ...options })).total.toFixed(3)}`;

  test('docs/operate/cost.md states what the calculator prints', async () => {
    const rows = await Promise.all(
      (['hls', 'rtsp'] as const).map(async (source) => {
        const half = { source, skippedShare: 0.5 };
        const prices = [{ source }, { source, mode: 'clip' as const }, half].map(price);
        const back = source === 'hls' ? price({ ...half, framesPerCheck: 2 }) : 'none on AWS';
        return [`\`${source}\``, ...(await Promise.all([...prices, back]))];
      }),
    );
    const cells = readPage('docs/operate/cost.md')
      .split('\n')
      .filter((row) => /^\| `(hls|rtsp)` +\| \$/.test(row))
      .map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(cells).toEqual(rows);
  });

  test('README.md and docs/contribute/benchmarks.md state the price of a stream-hour that the calculator prints', async () => {
    const [hour, clip] = await Promise.all([estimate(frames), estimate({ ...frames, mode: 'clip' })]);
    expect(readPage('README.md')).toContain(
      `$${hour.total.toFixed(3)} per stream-hour with a check of a frame every 10 s`,
    );
    expect(readPage('docs/contribute/benchmarks.md')).toContain(
      `$${hour.total.toFixed(4)} per stream-hour in frames mode and $${clip.total.toFixed(4)} in clip mode`,
    );
  });

  test('docs/operate/cost.md states the price of fixed addresses', () => {
    const [gateway, address] = [listPrices.natGatewayHour * 730, listPrices.publicAddressHour * 730] as const;
    const page = readPage('docs/operate/cost.md');
    expect(page).toContain(`$${gateway.toFixed(2)} for its NAT gateway`);
    expect(page).toContain(`$${address.toFixed(2)} for the public address`);
    expect(page).toContain(`$${(gateway + address).toFixed(2)} more`);
  });
});
