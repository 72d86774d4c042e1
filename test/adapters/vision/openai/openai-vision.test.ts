import { describe, expect, test } from 'vitest';
import { createOpenAiVision } from '../../../../adapters/vision/openai/openai-vision.ts';
import { promptVariants } from '../../../../adapters/vision/prompt-variants.ts';
import { labelledSheets as sheets } from '../../../support/vision/labelled-sheets.ts';
import { VisionError } from '../../../../core/vision-errors.ts';
import { type Arrived, busy, chatServer, cut, type Reply, says } from './chat-server.ts';
import { judgeCondition, type CheckMedia, type VisionModel } from '../../../../core/ports/vision-model.ts';

const frame = new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 9, 8, 7]);
const yes = { triggered: true, explanation: 'A red car stands on the left.' };
const look = { mode: 'frames' as const, frame };
const timeout = () => AbortSignal.timeout(10_000);
const judgeLook = async (model: VisionModel, media: CheckMedia = look, signal = timeout()) =>
  judgeCondition(model, media, { condition: 'x' }, signal);

function visionAt(baseUrl: string) {
  const waits: number[] = [];
  const vision = createOpenAiVision({
    sheets,
    baseUrl,
    model: 'llava',
    apiKey: 'sk-local',
    fetch,
    random: () => 0.5,
    sleep: async (milliseconds) => void waits.push(milliseconds),
  });
  return { vision, waits };
}

test('a frame is sent as a data URI, with a strict schema, temperature 0 and the key', async () => {
  await using server = await chatServer(says(JSON.stringify(yes)));
  const { vision } = visionAt(`${server.baseUrl}/`);
  const verdict = await judgeCondition(vision, look, { condition: 'a red car' }, timeout());
  expect(verdict).toEqual({
    ...yes,
    tokens: { input_tokens: 301, output_tokens: 17 },
    prompt_version: 'verdict-first-1',
  });
  const { method, path, headers, body } = server.arrived[0]!;
  expect([method, path, headers.authorization]).toEqual(['POST', '/v1/chat/completions', 'Bearer sk-local']);
  expect(body).toMatchObject({ model: 'llava', temperature: 0, max_tokens: 300, stream: false });
  const [picture, text] = body.messages[1]!.content;
  const url = `data:image/jpeg;base64,${Buffer.from(frame).toString('base64')}`;
  expect(picture).toEqual({ type: 'image_url', image_url: { url } });
  expect(text).toMatchObject({ text: expect.stringContaining('<condition>\na red car\n</condition>') });
  expect(body.response_format).toMatchObject({
    type: 'json_schema',
    json_schema: {
      name: 'report_verdict',
      strict: true,
      schema: { type: 'object', required: ['triggered', 'explanation'], additionalProperties: false },
    },
  });
});

test('the prompt last-frame sends the frame of the check before first, and other prompts never', async () => {
  await using server = await chatServer(says(JSON.stringify(yes)));
  const previous = new Uint8Array([0xff, 0xd8, 1]);
  const settings = { sheets, baseUrl: server.baseUrl, model: 'm', fetch };
  const comparing = createOpenAiVision({ ...settings, prompt: promptVariants['last-frame'] });
  expect(comparing.capabilities.usesPrevious).toBe(true);
  const verdict = await judgeLook(comparing, { ...look, previous });
  expect(verdict.prompt_version).toBe('last-frame-1');
  await judgeCondition(comparing, look, { condition: 'a car has left' }, timeout());
  await judgeLook(createOpenAiVision(settings), { ...look, previous });
  const pictures = server.arrived.map(({ body }) =>
    body.messages[1]!.content.flatMap((part: any) => part.image_url?.url.split(',')[1] ?? []),
  );
  const [before, newest] = [previous, frame].map((bytes) => Buffer.from(bytes).toString('base64'));
  expect(pictures).toEqual([[before, newest], [newest], [newest]]);
});

test('no authorization is sent without a key', async () => {
  await using server = await chatServer(says(JSON.stringify(yes)));
  const vision = createOpenAiVision({ sheets, baseUrl: server.baseUrl, model: 'm', fetch });
  await judgeLook(vision);
  expect(server.arrived[0]!.headers.authorization).toBeUndefined();
});

test('a clip is not sent, because only images are supported', async () => {
  await using server = await chatServer(says(JSON.stringify(yes)));
  const { vision } = visionAt(server.baseUrl);
  expect(vision).toMatchObject({
    provider: 'openai',
    model: 'llava',
    capabilities: { supportsVideo: false },
  });
  await judgeLook(vision, { mode: 'hybrid', frame, clip: new Uint8Array(9) });
  expect(server.arrived[0]!.body.messages[1]!.content).toHaveLength(2);
});

const inWords = ({ body }: Arrived): Reply =>
  body.response_format === undefined
    ? says(JSON.stringify(yes))
    : { status: 400, body: { error: { message: 'unknown field' } } };

describe('server without response_format', () => {
  test('a server that rejects response_format gets the schema in the prompt, also in later requests', async () => {
    await using server = await chatServer(inWords);
    const { vision } = visionAt(server.baseUrl);
    expect(await judgeLook(vision)).toMatchObject(yes);
    expect(await judgeLook(vision)).toMatchObject(yes);
    expect(server.arrived.map(({ body }) => body.response_format !== undefined)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(server.arrived[2]!.body.messages[1]!.content.at(-1)).toMatchObject({
      text: expect.stringContaining('"triggered"'),
    });
  });

  test('a server that rejects maximum lengths gets the schema without them, also in later requests', async () => {
    const isBounded = ({ body }: Arrived) => JSON.stringify(body.response_format).includes('maxLength');
    await using server = await chatServer((now) =>
      isBounded(now) ? { status: 400, body: 'invalid schema' } : says(JSON.stringify(yes)),
    );
    const { vision } = visionAt(server.baseUrl);
    for (const condition of ['x', 'y'])
      expect(await judgeCondition(vision, look, { condition }, timeout())).toMatchObject(yes);
    expect(server.arrived.map(isBounded)).toEqual([true, false, false]);
  });

  test('an error is final after the server has accepted the format', async () => {
    await using server = await chatServer(says(JSON.stringify(yes)), { status: 400, body: 'bad request' });
    const { vision } = visionAt(server.baseUrl);
    await judgeLook(vision);
    await expect(judgeLook(vision)).rejects.toBeInstanceOf(VisionError);
    expect(server.arrived).toHaveLength(2);
  });

  test.each([
    [
      'a model without images',
      400,
      { error: { message: 'At most 0 image(s) may be provided' } },
      /supports images/,
    ],
    [
      'a full context of llama.cpp',
      400,
      { error: { type: 'exceed_context_size_error', n_ctx: 4096 } },
      /Raise the context/,
    ],
    [
      'a full context of vLLM',
      400,
      { message: "This model's maximum context length is 4096 tokens." },
      /Raise the context/,
    ],
    ['a full context of OpenAI', 400, { error: { code: 'context_length_exceeded' } }, /Raise the context/],
    [
      'a full context with status 500',
      500,
      { error: { message: 'Context size has been exceeded.' } },
      /Raise the context/,
    ],
    [
      'llama.cpp without its projector',
      500,
      { error: { message: 'image input is not supported - hint: you may need to provide the mmproj' } },
      /takes no images.*--mmproj/,
    ],
    [
      'a full context of LM Studio',
      400,
      { error: 'The model is loaded with context length of only 4096 tokens, which is not enough.' },
      /Raise the context/,
    ],
    [
      'a full context of TGI',
      422,
      { error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.' },
      /Raise the context/,
    ],
    ['a proxy with a limit', 413, '<html>413 Request Entity Too Large</html>', /client_max_body_size/],
    ['an exhausted account', 429, { error: { code: 'insufficient_quota' } }, /credit/],
  ])('%s gets one request and its own remediation', async (_, status, body, remediation) => {
    await using server = await chatServer({ status, body });
    const { vision, waits } = visionAt(server.baseUrl);
    await expect(judgeLook(vision)).rejects.toMatchObject({
      remediation: expect.stringMatching(remediation),
    });
    expect([server.arrived.length, waits]).toEqual([1, []]);
  });
});

describe('response of the vision server', () => {
  test.each([
    ['fenced', `\`\`\`json\n${JSON.stringify(yes)}\n\`\`\``],
    ['introduced', `Sure! {maybe} ${JSON.stringify(yes)} Anything else?`],
    ['reasoned', `<think>{"triggered": false}</think>${JSON.stringify(yes)}`],
  ])('%s JSON is read', async (_, content) => {
    await using server = await chatServer(says(content));
    expect(await judgeLook(visionAt(server.baseUrl).vision)).toMatchObject(yes);
  });

  test.each<[string, Reply, 'free'?]>([
    ['nonsense text', says('purple monkey dishwasher')],
    ['half an object', says('{"triggered": true, "expl')],
    ['a wrong shape', says('{"answer": 42}')],
    ['no content', says(null)],
    ['no choices', { status: 200, body: { choices: [] } }, 'free'],
    ['HTML', { status: 200, body: '<html>welcome</html>' }, 'free'],
    ['a refusal', says(null, { refusal: 'I cannot help with that.' })],
    ['a wrong key', { status: 401, body: {} }, 'free'],
    ['a missing model', { status: 404, body: {} }, 'free'],
    ['a crash', { status: 500, body: 'segmentation fault' }, 'free'],
  ])('%s is a VisionError, which has the tokens that are paid', async (_, reply, price) => {
    await using server = await chatServer(reply);
    const failed = judgeLook(visionAt(server.baseUrl).vision);
    await expect(failed).rejects.toBeInstanceOf(VisionError);
    const used = price === 'free' ? [0, 0] : [301, 17];
    await expect(failed).rejects.toMatchObject({
      calls: [{ input_tokens: used[0], output_tokens: used[1], failed: true }],
    });
    expect(server.arrived).toHaveLength(1);
  });

  test.each([
    ['texts', [JSON.stringify(yes)]],
    ['objects without a type', [{ text: JSON.stringify(yes) }]],
    ['one object', { type: 'output_text', text: JSON.stringify(yes) }],
    [
      'thoughts and text',
      [
        { type: 'thinking', text: '{"triggered": false}' },
        { type: 'text', text: JSON.stringify(yes) },
      ],
    ],
  ])('content in parts is read: %s', async (_, content) => {
    await using server = await chatServer({
      status: 200,
      body: { choices: [{ message: { content } }], usage: 'none' },
    });
    expect(await judgeLook(visionAt(server.baseUrl).vision)).toMatchObject(yes);
  });

  test('a response without token usage counts zero tokens', async () => {
    const body = { choices: [{ message: { content: JSON.stringify(yes) } }] };
    await using server = await chatServer({ status: 200, body });
    const { tokens } = await judgeLook(visionAt(server.baseUrl).vision);
    expect(tokens).toEqual({ input_tokens: 0, output_tokens: 0 });
  });

  test('a question and a summary are sent', async () => {
    await using server = await chatServer(
      says('{"verdict":"no","answer":"None."}'),
      says('{"summary":"Quiet."}'),
    );
    const { vision } = visionAt(server.baseUrl);
    expect(await vision.answer(frame, 'Are there cars?', timeout())).toMatchObject({
      answer: 'None.',
      triggered: false,
    });
    const samples = [{ frame, capturedAt: new Date(0) }];
    expect((await vision.summarize(samples, timeout())).summary).toBe('Quiet.');
  });

  test('a long window is sent on eight contact sheets', async () => {
    await using server = await chatServer(says('{"summary":"Quiet."}'));
    const samples = Array.from({ length: 30 }, (_, at) => ({
      frame: new Uint8Array([at]),
      capturedAt: new Date(at * 1000),
    }));
    await visionAt(server.baseUrl).vision.summarize(samples, timeout());
    const content: { type: string }[] = server.arrived[0]!.body.messages[1]!.content;
    expect(content.filter(({ type }) => type === 'image_url')).toHaveLength(8);
  });
});

describe('answer that the token limit has cut', () => {
  test.each([
    ['in the explanation', '{"triggered": true, "explanation": "A red car stands', true, 'A red car stands…'],
    ['in an escape', '{"triggered": true, "explanation": "A \\', true, 'A …'],
    ['after the verdict', '{"triggered": false', false, 'The token limit of the answer cut the explanation.'],
    [
      'in the next key',
      '```json\n{"triggered": false, "expl',
      false,
      'The token limit of the answer cut the explanation.',
    ],
  ])('a verdict whose answer is cut %s is kept', async (_, content, triggered, explanation) => {
    await using server = await chatServer(cut(content));
    const verdict = await judgeLook(visionAt(server.baseUrl).vision);
    expect(verdict).toMatchObject({ triggered, explanation });
  });

  test('the verdicts before the cut of a joint answer are kept', async () => {
    const written =
      '{"verdicts": [{"condition_id": "1", "triggered": true, "explanation": "A car."}, {"condition_id": "2", "triggered": false, "expl';
    await using server = await chatServer(cut(written), cut('{"verdicts": [{"condition_id": "2", "trig'));
    const { vision } = visionAt(server.baseUrl);
    const questions = ['a', 'b'].map((id) => ({ condition_id: id, condition: id }));
    const { moments } = await vision.judge(look, questions, timeout());
    expect(moments[0]?.map(({ condition_id, triggered }) => [condition_id, triggered])).toEqual([
      ['a', true],
      ['b', false],
    ]);
    await expect(vision.judge(look, questions, timeout())).rejects.toBeInstanceOf(VisionError);
  });

  test('a cut summary and a cut answer are kept', async () => {
    await using server = await chatServer(
      cut('{"summary": "A van arrives, then', 900),
      cut('{"verdict": "yes", "answer": "Two', 500),
    );
    const { vision } = visionAt(server.baseUrl);
    const { summary } = await vision.summarize([{ frame, capturedAt: new Date(0) }], timeout());
    expect(summary).toBe('A van arrives, then…');
    expect(await vision.answer(frame, 'Are there cars?', timeout())).toMatchObject({
      answer: 'Two…',
      triggered: true,
    });
  });

  test.each([
    ['a half verdict', cut('{"triggered": tru'), /limit of 300 tokens/],
    ['an explanation without its verdict', cut('{"explanation": "A car'), /limit of 300 tokens/],
    ['half a thought', cut('<think>{"triggered": true, "explanation": "It'), /limit of 300 tokens/],
    ['no content', cut(''), /limit of 300 tokens/],
    [
      'a full context of Mistral',
      { status: 200, body: { choices: [{ message: { content: '{"trig' }, finish_reason: 'model_length' }] } },
      /Raise the context/,
    ],
    ['one token of a full context', cut('', 1), /Raise the context/],
  ])('%s is no verdict, and the error names the limit', async (_, reply, remediation) => {
    await using server = await chatServer(reply);
    await expect(judgeLook(visionAt(server.baseUrl).vision)).rejects.toMatchObject({
      remediation: expect.stringMatching(remediation),
    });
  });
});

describe('busy vision server', () => {
  test('a busy server is retried after its Retry-After', async () => {
    await using server = await chatServer(busy('3'), says(JSON.stringify(yes)));
    const { vision, waits } = visionAt(server.baseUrl);
    expect(await judgeLook(vision)).toMatchObject(yes);
    expect(waits).toEqual([3_000]);
  });

  test.each([
    ['Gemini', { error: { code: 429, details: [{ retryDelay: '7.5s' }] } }, 7_500],
    ['OpenAI', { error: { message: 'Rate limit reached. Please try again in 7.66s. Visit …' } }, 7_660],
    ['a gateway', { detail: 'Slow down', retry_after: 4 }, 4_000],
    ['a short wait', { error: { message: 'Please try again in 86ms.' } }, 500],
  ])('a busy server is retried after the wait in its body: %s', async (_, body, wait) => {
    await using server = await chatServer({ status: 429, body }, says(JSON.stringify(yes)));
    const { vision, waits } = visionAt(server.baseUrl);
    expect(await judgeLook(vision)).toMatchObject(yes);
    expect(waits).toEqual([wait]);
  });

  test('a busy server is retried with backoff, for at most four attempts', async () => {
    await using server = await chatServer({ status: 503, body: 'loading model' });
    const { vision, waits } = visionAt(server.baseUrl);
    await expect(judgeLook(vision)).rejects.toMatchObject({
      remediation: expect.stringContaining('overloaded'),
    });
    expect(waits).toEqual([500, 1_000, 2_000]);
    expect(server.arrived).toHaveLength(4);
  });

  test.each([
    ['an hour', '3600', 20_000],
    ['nonsense', 'Wed, 21 Oct 2015 07:28:00 GMT', 500],
  ])('a Retry-After of %s is limited', async (_, retryAfter, wait) => {
    await using server = await chatServer(busy(retryAfter), says(JSON.stringify(yes)));
    const { vision, waits } = visionAt(server.baseUrl);
    await judgeLook(vision);
    expect(waits).toEqual([wait]);
  });
});

describe('unresponsive vision server', () => {
  test('a server that does not respond ends with the abort signal', async () => {
    await using server = await chatServer('hang');
    const judging = judgeLook(visionAt(server.baseUrl).vision, look, AbortSignal.timeout(100));
    await expect(judging).rejects.toMatchObject({ remediation: expect.stringContaining('in time') });
  });

  test('the abort signal ends the wait between two attempts', async () => {
    await using server = await chatServer(busy('10'));
    const vision = createOpenAiVision({ sheets, baseUrl: server.baseUrl, model: 'm', fetch });
    const judging = judgeCondition(vision, look, { condition: 'x' }, AbortSignal.timeout(200));
    await expect(judging).rejects.toMatchObject({ remediation: expect.stringContaining('in time') });
  });

  test('an unreachable server is reported', async () => {
    const { vision } = visionAt('http://127.0.0.1:1/v1');
    await expect(judgeLook(vision)).rejects.toMatchObject({
      remediation: expect.stringContaining('cannot be reached'),
    });
  });
});

describe('A model that thinks until its tokens are used up', () => {
  const thinking = says('', { reasoning: 'The user shows me a picture. Let me see …' });

  test('a model that thinks until its tokens are used up gets the call again without thinking, and all later ones', async () => {
    await using server = await chatServer(thinking, says(JSON.stringify(yes)));
    const { vision } = visionAt(server.baseUrl);
    const first = await judgeCondition(vision, look, { condition: 'a red car' }, timeout());
    expect(first.tokens).toEqual({ input_tokens: 2 * 301, output_tokens: 2 * 17 });
    await judgeCondition(vision, look, { condition: 'a red car' }, timeout());
    expect(server.arrived.map(({ body }) => body.reasoning_effort)).toEqual([undefined, 'none', 'none']);
    expect(server.arrived[1]!.body.chat_template_kwargs).toEqual({ enable_thinking: false });
  });

  test('a model that thinks nevertheless is named in the error', async () => {
    await using server = await chatServer(says(null, { reasoning_content: 'Let me see …' }));
    const { vision } = visionAt(server.baseUrl);
    await expect(judgeCondition(vision, look, { condition: 'a red car' }, timeout())).rejects.toMatchObject({
      remediation: expect.stringContaining('"instruct" variant'),
      calls: [{ input_tokens: 2 * 301, output_tokens: 2 * 17, failed: true }],
    });
    expect(server.arrived).toHaveLength(2);
  });
});
