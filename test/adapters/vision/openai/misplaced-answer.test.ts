import { expect, test } from 'vitest';
import { createOpenAiVision } from '../../../../adapters/vision/openai/openai-vision.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';
import { labelledSheets as sheets } from '../../../support/vision/labelled-sheets.ts';
import { chatServer, cut, type Reply, says } from './chat-server.ts';

async function judge(extra: object, content: string | null = null) {
  return judgeReply(says(content, extra));
}

async function judgeReply(reply: Reply) {
  await using server = await chatServer(reply);
  const vision = createOpenAiVision({ sheets, baseUrl: server.baseUrl, model: 'm', fetch });
  const look = { mode: 'frames' as const, frame: new Uint8Array([0xff, 0xd8, 0xff]) };
  return await judgeCondition(vision, look, { condition: 'x' }, AbortSignal.timeout(10_000));
}

const answer = JSON.stringify({ triggered: true, explanation: 'A car.' });
const quoted = answer.replace('true', '"True"');
const other = JSON.stringify({ triggered: false, explanation: 'None.' });
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
  ['quotes', quoted],
  ['words', answer.replace('true', '"Yes"')],
  ['numbers', answer.replace('true', '1')],
  ['remarks', answer.replace(',', ', // see http://a/b\n')],
  ['signs of control', answer.replace('car.', 'car.\u0007')],
  ['quotes in the call of a tool', `{"name": "report_verdict", "arguments": ${quoted}}`],
  [
    'the final channel, behind a draft',
    `<|channel|>analysis<|message|>As {"triggered": ..}<|end|><|start|>assistant<|channel|>final<|message|>${answer}`,
  ],
  ['a turn behind one of thoughts', `<think>${other}</think><|im_end|>\n${answer}`],
  ['text that begins with marks of a template', `<s></s>${answer}`],
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
  expect(await judge({ reasoning_content: answer }, other)).toMatchObject({ triggered: false });
});

test.each([
  ['thoughts with a draft', { reasoning_content: `Perhaps ${answer}, but let me see.` }],
  ['the call of another tool', call('{"query": "car"}')],
  ['a call without an object', call('yes')],
])('%s are no answer', async (_kind, extra) => {
  await expect(judge(extra)).rejects.toMatchObject({ code: 'VLM_ERROR' });
});

const object = JSON.parse(answer);
test.each<[string, object[]]>([
  ['an object as content', [{ message: { content: object } }]],
  ['a part that is the object', [{ message: { content: [{ type: 'thinking' }, object] } }]],
  ['a part without a type', [{ message: { content: { text: answer } } }]],
  [
    'the first choice, which comes last',
    [
      { index: 1, message: { content: other } },
      { index: 0, message: { content: answer } },
    ],
  ],
])('an answer counts as %s', async (_place, choices) => {
  expect(await judgeReply({ status: 200, body: { choices } })).toMatchObject({ triggered: true });
});

test.each([[[{ thinking: answer }]], [{ reasoning: answer }]])(
  'parts that are thoughts are no answer: %j',
  async (content) => {
    const choices = [{ message: { content, reasoning: 'Hm.' } }];
    await expect(judgeReply({ status: 200, body: { choices } })).rejects.toMatchObject({
      remediation: expect.stringMatching(/^m thinks, and gives no answer\./),
    });
  },
);

test('an answer within thoughts that have ended is no answer, and no limit is named', async () => {
  await expect(judge({}, `<think>${answer}</think>`)).rejects.toMatchObject({
    remediation: expect.stringMatching(/^m thinks, and gives no answer\./),
  });
});

test('words of a text stay text, in an answer with quotes and with marks', async () => {
  const sign = { triggered: true, explanation: 'The sign says <b></s> to me' };
  expect(await judge({}, JSON.stringify(sign))).toMatchObject(sign);
  expect(await judge({}, `So: ${JSON.stringify(sign)}`)).toMatchObject(sign);
  expect(await judge({}, '{"triggered":"true","explanation":"True"}')).toMatchObject({
    triggered: true,
    explanation: 'True',
  });
});

test('a decision in quotes is read if the token limit has cut the answer', async () => {
  const verdict = await judgeReply(cut('{"triggered": "true", "explanation": "A ca'));
  expect(verdict).toMatchObject({ triggered: true });
});

test('thousands of lists within each other are no answer', async () => {
  const lists = '['.repeat(5_000) + ']'.repeat(5_000);
  for (const text of [`{"triggered": ${lists}}`, `{"verdict": {"triggered": ${lists}}}`])
    await expect(judge({}, text)).rejects.toMatchObject({ code: 'VLM_ERROR' });
});

test.each([{}, { type: null }, { code: null, message: '' }])(
  'an answer with the error %j counts: it states none',
  async (error) => {
    const choices = [{ message: { content: answer }, finish_reason: 'stop', error }];
    expect(await judgeReply({ status: 200, body: { choices, error } })).toMatchObject({ triggered: true });
  },
);
