import { expect, test } from 'vitest';
import { joinStream } from '../../../../adapters/vision/openai/post-with-retry.ts';

const chunk = (delta: object, finish: string | null = null) =>
  JSON.stringify({ choices: [{ delta, finish_reason: finish }] });
const answer = [
  chunk({ role: 'assistant', content: null }),
  chunk({ content: '{"a":' }),
  chunk({ content: '1}' }, 'stop'),
];
const whole = { choices: [{ message: { content: '{"a":1}' }, finish_reason: 'stop' }] };

test.each([
  ['events', answer.map((each) => `data: ${each}\n\n`).join('')],
  ['events without a space, with CRLF', answer.map((each) => `data:${each}\r\n\r\n`).join('')],
  [
    'names, ids and comments',
    `: ping\n\n${answer.map((each) => `event: chunk\nid: 1\ndata: ${each}\n\n`).join('')}data: [DONE]\n\n`,
  ],
  ['data on a line of its own', answer.map((each) => `data:\n ${each}\n\n`).join('')],
  ['no empty lines', answer.map((each) => `data: ${each}\n`).join('')],
  [
    'a second choice before the first, whose parts come between',
    answer
      .map((each) => each.replace('{"choices":[', '{"choices":[{"index":1,"delta":{"content":"no"}},'))
      .map((each) => `data: ${each}\n\n`)
      .join(''),
  ],
  [
    'parts of one choice that are numbered from the second on',
    answer
      .map((each, at) => (at === 0 ? each : each.replace('[{', `[{"index":${at},`)))
      .map((each) => `data: ${each}\n\n`)
      .join(''),
  ],
  ['a whole message', `data: ${JSON.stringify(whole)}\n\ndata: [DONE]\n\n`],
  [
    'an error behind the answer',
    `${answer.map((each) => `data: ${each}\n\n`).join('')}data: {"error":"late"}\n\n`,
  ],
])('a stream is the completion that was asked for: %s', (_, body) => {
  expect(JSON.parse(joinStream(body))).toMatchObject(whole);
});

test('thoughts, usage and refusal of a stream are those of the completion', () => {
  const chunks = [
    chunk({ reasoning_content: 'Hm' }),
    chunk({ reasoning_content: 'm.', refusal: 'No.' }, 'stop'),
  ];
  const usage = { prompt_tokens: 3, completion_tokens: 1 };
  const events = [...chunks, JSON.stringify({ choices: [], usage })];
  expect(JSON.parse(joinStream(events.map((each) => `data: ${each}\n\n`).join('')))).toEqual({
    choices: [{ message: { content: null, reasoning: 'Hmm.', refusal: 'No.' }, finish_reason: 'stop' }],
    usage,
  });
});

test('an error in a stream is the result, whatever came before', () => {
  const error = { code: 429, message: 'busy' };
  const body = `data: ${chunk({ content: '{"a":1}' })}\n\nevent: error\ndata: ${JSON.stringify({ error })}\n\n`;
  expect(JSON.parse(joinStream(body))).toEqual({ error });
});

test.each(['{"choices":[]}', '<html>data: {}</html>', '', 'data: no JSON\n\n'])(
  'another body stays: %s',
  (body) => {
    expect(joinStream(body)).toBe(body);
  },
);
