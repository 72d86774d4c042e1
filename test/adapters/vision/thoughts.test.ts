import { describe, expect, test } from 'vitest';
import { createBedrockVision } from '../../../adapters/vision/bedrock/bedrock-vision.ts';
import { createLocalVision } from '../../../adapters/vision/local/local-vision.ts';
import { createOpenAiVision } from '../../../adapters/vision/openai/openai-vision.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { testPicture as frame } from '../../../core/observability/model-status.ts';
import { type VisionModel, judgeCondition } from '../../../core/ports/vision-model.ts';
import { labelledSheets as sheets } from '../../support/vision/labelled-sheets.ts';

const draft = 'Perhaps {"triggered": true, "explanation": "A person."} No: a bush.';
const answer = '{"triggered": false, "explanation": "A bush."}';

type End = 'complete' | 'token limit';
const providers: Record<string, (text: string, end: End) => VisionModel> = {
  openai: (text, end) => {
    const finish = end === 'complete' ? 'stop' : 'length';
    const body = JSON.stringify({ choices: [{ message: { content: text }, finish_reason: finish }] });
    const fetch = async () => new Response(body);
    return createOpenAiVision({ sheets, baseUrl: 'http://m/v1', model: 'm', fetch });
  },
  bedrock: (text, end) => {
    const stopReason = end === 'complete' ? 'end_turn' : 'max_tokens';
    const output = { message: { role: 'assistant' as const, content: [{ text }] } };
    const client = {
      config: { region: async () => 'us-east-1' },
      send: async () => ({ output, usage: undefined, stopReason }) as any,
    };
    return createBedrockVision({ sheets, client, modelId: 'us.amazon.nova-lite-v1:0' });
  },
  local: (text, end) => {
    const reply = Promise.resolve({ text, end, inputTokens: 1, outputTokens: 1 });
    const host = {
      prepare: async () => undefined,
      loading: () => undefined,
      close: () => undefined,
      call: () => ({ answer: reply, free: reply.then(() => undefined) }),
    };
    const turns = { take: async () => ({ end: () => undefined }) };
    return createLocalVision({ host, model: 'm', sheets, turns });
  },
};

describe.each(Object.entries(providers))('answer of %s', (provider, create) => {
  const judge = async (text: string, end: End) =>
    judgeCondition(
      create(text, end),
      { mode: 'frames', frame },
      { condition: 'a person' },
      AbortSignal.timeout(10_000),
    );

  test(`a draft in the thoughts decides nothing with ${provider}`, async () => {
    for (const text of [
      `<think>${draft}</think>${answer}`,
      `${draft}</think>${answer}`,
      `${draft} ${answer}`,
    ])
      expect(await judge(text, 'complete')).toMatchObject({ triggered: false });
  });

  test(`an answer of ${provider} that is cut in its thoughts is a failed call`, async () => {
    for (const text of [draft, `<think>${draft}`, `${draft} {"triggered": true, "expl`])
      await expect(judge(text, 'token limit')).rejects.toBeInstanceOf(VisionError);
  });
});
