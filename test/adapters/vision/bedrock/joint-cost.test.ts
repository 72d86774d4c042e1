import { expect, test } from 'vitest';
import { createBedrockVision } from '../../../../adapters/vision/bedrock/bedrock-vision.ts';
import type { ConverseClient } from '../../../../adapters/vision/bedrock/converse.ts';
import { priceOfModel } from '../../../../adapters/vision/bedrock/models.ts';

test('three conditions in one call of Nova cost at most 1.3 times the input tokens of one, and 1.6 times the dollars', async () => {
  const { one, joint, separate } = await compareCalls();
  expect([one.calls, joint.calls, separate.calls]).toEqual([1, 1, 3]);
  expect(one.inputTokens).toBeGreaterThan(1000);
  expect(joint.inputTokens / one.inputTokens).toBeLessThanOrEqual(1.3);
  expect(joint.dollars / one.dollars).toBeLessThanOrEqual(1.6);
  expect(joint.dollars / separate.dollars).toBeLessThan(0.5);
});

/**
 * Counts what a check of several conditions costs on Nova, by the request as sent. Text: characters divided by
 * `charactersPerToken`. A frame of 16:9: about 800 tokens
 * (docs.aws.amazon.com/nova/latest/userguide/modalities-image.html). Nova bills tool definitions as input.
 */

/**
 * Low for English (Amazon states 4.7 on average), so that text, of which a joint call has more, counts rather too much.
 */
const charactersPerToken = 4;

/** Use of one model call, or the sum of several. */
type Cost = { calls: number; inputTokens: number; outputTokens: number; dollars: number };

const conditions = [
  'A person is standing at the front door',
  'A delivery van is parked in the driveway',
  'The gate is open',
];
/** Explanations of usual length: two short sentences for one condition, one for each of several, as the prompts ask. */
const sentence = 'No person is visible near the front door of the house. ';

const modelId = 'amazon.nova-lite-v1:0';

/** Returns the cost of a call about one condition, of one call about three, and of three calls. */
async function compareCalls(): Promise<{ one: Cost; joint: Cost; separate: Cost }> {
  const one = await computeCost(conditions.slice(0, 1));
  const joint = await computeCost(conditions);
  const each = await Promise.all(conditions.map((condition) => computeCost([condition])));
  return { one, joint, separate: each.reduce(add) };
}

function add(one: Cost, other: Cost): Cost {
  return {
    calls: one.calls + other.calls,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    dollars: one.dollars + other.dollars,
  };
}

/** Sends one call to a client that only counts. One condition has a prompt of its own. */
async function computeCost(asked: readonly string[]): Promise<Cost> {
  const price = priceOfModel(modelId);
  if (price === undefined) throw new Error('The price of Nova Lite is unknown');
  const cost: Cost = { calls: 0, inputTokens: 0, outputTokens: 0, dollars: 0 };
  const client: ConverseClient = {
    config: { region: async () => 'us-east-1' },
    send: async ({ input }) => {
      const { system, messages, toolConfig } = input;
      const content = messages?.flatMap((message) => message.content ?? []) ?? [];
      const pictures = content.filter(({ image }) => image).length;
      const texts = [...(system ?? []), ...content].map(({ text }) => text ?? '').join('\n');
      const [tool] = toolConfig?.tools ?? [];
      const verdicts = asked.map((_, index) => ({
        condition_id: String(index + 1),
        triggered: false,
        explanation: sentence.repeat(asked.length === 1 ? 2 : 1).trim(),
      }));
      cost.calls += 1;
      cost.inputTokens +=
        pictures * price.pictureTokens + toTokens(texts) + toTokens(JSON.stringify(tool ?? ''));
      cost.outputTokens += toTokens(JSON.stringify({ verdicts }));
      const name = tool?.toolSpec?.name ?? '';
      return {
        output: {
          message: {
            role: 'assistant',
            content: [
              { toolUse: { toolUseId: '1', name, input: asked.length === 1 ? verdicts[0] : { verdicts } } },
            ],
          },
        },
        usage: undefined,
      };
    },
  };
  const vision = createBedrockVision({
    client,
    modelId,
    sheets: { make: async () => new Uint8Array() },
  });
  const questions = asked.map((condition, index) => ({ condition_id: `condition-${index + 1}`, condition }));
  const media = { mode: 'frames' as const, frame: new Uint8Array() };
  await vision.judge(media, questions, AbortSignal.timeout(60_000));
  cost.dollars = cost.inputTokens * price.input + cost.outputTokens * price.output;
  return cost;
}

function toTokens(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}
