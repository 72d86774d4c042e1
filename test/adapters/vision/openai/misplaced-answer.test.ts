import { expect, test } from 'vitest';
import { createOpenAiVision } from '../../../../adapters/vision/openai/openai-vision.ts';
import { judgeCondition } from '../../../../core/judge-condition.ts';
import { labelledSheets as sheets } from '../../../support/vision/labelled-sheets.ts';
import { chatServer, says } from './chat-server.ts';

async function judge(extra: object, content: string | null = null) {
  await using server = await chatServer(says(content, extra));
  const vision = createOpenAiVision({ sheets, baseUrl: server.baseUrl, model: 'm', fetch });
  const look = { mode: 'frames' as const, frame: new Uint8Array([0xff, 0xd8, 0xff]) };
  return await judgeCondition(vision, look, { condition: 'x' }, AbortSignal.timeout(10_000));
}

const answer = JSON.stringify({ triggered: true, explanation: 'A car.' });
const call = (text: unknown) => ({
  tool_calls: [{ type: 'function', function: { name: 'report_verdict', arguments: text } }],
});

test.each([
  ['reasoning_content, as of LM Studio', { reasoning_content: `\n${answer}\n` }],
  ['reasoning, as of OpenRouter', { reasoning: answer }],
  ['the call of a tool', call(answer)],
  ['the call of a tool, as an object', call(JSON.parse(answer))],
  ['the call of a function, as of older servers', { function_call: { arguments: answer } }],
])('an answer that is alone in %s counts', async (_place, extra) => {
  expect(await judge(extra)).toMatchObject({ triggered: true, explanation: 'A car.' });
});

test.each([
  ['the call of a tool', `<tool_call>{"name": "report_verdict", "arguments": ${answer}}</tool_call>`],
  [
    'the call of a tool whose arguments are a text',
    `{"name": "report_verdict", "arguments": ${JSON.stringify(answer)}}`,
  ],
  ['its schema', `{"type": "object", "properties": ${answer}}`],
  ['its name', `{"verdict": ${answer}}`],
  ['a list', `[${answer}]`],
  ['quotes', answer.replace('true', '"True"')],
])('an answer that is written within %s counts', async (_place, text) => {
  expect(await judge({}, text)).toMatchObject({ triggered: true, explanation: 'A car.' });
});

test.each([
  ['a draft and an answer', `{"first": ${answer}, "second": ${answer}}`],
  ['thoughts', `{"reasoning": ${answer}, "answer": "none"}`],
])('an object with %s is no answer', async (_kind, text) => {
  await expect(judge({}, text)).rejects.toMatchObject({ code: 'VLM_ERROR' });
});

test('an answer in its place counts before one among the thoughts', async () => {
  const other = JSON.stringify({ triggered: false, explanation: 'None.' });
  expect(await judge({ reasoning_content: answer }, other)).toMatchObject({ triggered: false });
});

test.each([
  ['thoughts with a draft', { reasoning_content: `Perhaps ${answer}, but let me see.` }],
  ['the call of another tool', call('{"query": "car"}')],
  ['a call without an object', call('yes')],
])('%s are no answer', async (_kind, extra) => {
  await expect(judge(extra)).rejects.toMatchObject({ code: 'VLM_ERROR' });
});
