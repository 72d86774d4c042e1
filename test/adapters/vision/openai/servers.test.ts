import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createOpenAiVision } from '../../../../adapters/vision/openai/openai-vision.ts';
import { labelledSheets as sheets } from '../../../support/vision/labelled-sheets.ts';
import { type Arrived, chatServer, type Reply, says } from './chat-server.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';

const look = { mode: 'frames' as const, frame: new Uint8Array([0xff, 0xd8, 1]) };
const answer = '{"triggered": false, "explanation": "The yard is empty."}';
const good = says(answer);

type Body = Arrived['body'];
/** Refusal of a field, in the words of a server. */
type Rule = [refuses: (body: Body) => boolean, reply: Reply];

const openAiError = (param: string, message: string): Reply => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' } },
});
const extraForbidden = (name: string): Reply => ({
  status: 422,
  body: { detail: [{ type: 'extra_forbidden', loc: ['body', name], msg: 'Extra inputs are not permitted' }] },
});
const unknownName = (name: string): Reply => ({
  status: 400,
  body: [
    {
      error: {
        code: 400,
        message: `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`,
      },
    },
  ],
});
const newLimit =
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
const onlyDefault =
  "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.";
const withSystem = (body: Body) => body.messages[0].role === 'system';
const thinks = (body: Body) => body.reasoning_effort === undefined && body.chat_template_kwargs === undefined;
const hidden: Reply = {
  status: 200,
  body: {
    choices: [{ finish_reason: 'length', message: { role: 'assistant' } }],
    usage: { completion_tokens: 300 },
  },
};

/**
 * Refusals and answers of each kind of server, which the page about models lists, and the requests until the first and
 * second verdict.
 */
const servers: Record<string, { rules: Rule[]; reply?: Reply; requests: [number, number] }> = {
  'OpenAI with gpt-5': {
    rules: [
      [({ max_tokens: limit }) => limit !== undefined, openAiError('max_tokens', newLimit)],
      [({ temperature }) => temperature !== undefined, openAiError('temperature', onlyDefault)],
      [thinks, hidden],
      [
        ({ chat_template_kwargs: given }) => given !== undefined,
        openAiError('chat_template_kwargs', 'Unknown parameter'),
      ],
      [
        ({ reasoning_effort: effort }) => effort === 'none',
        openAiError('reasoning_effort', "Unsupported value: 'none'. Supported values are: 'minimal', 'low'."),
      ],
    ],
    requests: [6, 7],
  },
  Azure: {
    rules: [
      [({ max_tokens: limit }) => limit !== undefined, openAiError('max_tokens', newLimit)],
      [
        withSystem,
        openAiError(
          'messages[0].role',
          "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        ),
      ],
    ],
    requests: [3, 4],
  },
  Mistral: {
    rules: [
      [thinks, says('', { reasoning: 'Hm.' })],
      [({ chat_template_kwargs: given }) => given !== undefined, extraForbidden('chat_template_kwargs')],
    ],
    reply: {
      status: 200,
      body: {
        choices: [
          {
            finish_reason: 'stop',
            message: {
              content: [
                {
                  type: 'thinking',
                  thinking: [{ type: 'text', text: '{"triggered": true, "explanation": "?"}' }],
                },
                { type: 'text', text: answer },
                { type: 'reference', reference_ids: [1] },
              ],
            },
          },
        ],
        usage: { prompt_tokens: '10', completion_tokens: -1 },
      },
    },
    requests: [3, 4],
  },
  Gemini: {
    rules: [
      [
        ({ response_format: format }) => JSON.stringify(format ?? '').includes('maxLength'),
        unknownName('maxLength'),
      ],
      [thinks, hidden],
      [({ chat_template_kwargs: given }) => given !== undefined, unknownName('chat_template_kwargs')],
      [
        ({ reasoning_effort: effort }) => effort === 'none',
        {
          status: 400,
          body: [
            { error: { code: 400, message: 'Budget 0 is invalid. This model only works in thinking mode.' } },
          ],
        },
      ],
    ],
    requests: [5, 6],
  },
  'LM Studio': {
    rules: [
      [
        ({ response_format: format }) =>
          format !== undefined && !JSON.stringify(format).includes('"json_schema"'),
        { status: 400, body: { error: "'response_format.type' must be 'json_schema' or 'text'" } },
      ],
    ],
    reply: says(`{"triggered": true}</think>${answer}`),
    requests: [1, 2],
  },
  vLLM: {
    rules: [
      [
        withSystem,
        { status: 400, body: { object: 'error', message: 'System role not supported', code: 400 } },
      ],
    ],
    reply: says(answer, { reasoning_content: 'A bush.' }),
    requests: [2, 3],
  },
  'llama.cpp': {
    rules: [
      [
        ({ response_format: format }) => JSON.stringify(format ?? '').includes('maxLength'),
        {
          status: 500,
          body: { error: { code: 500, message: 'failed to parse grammar', type: 'server_error' } },
        },
      ],
    ],
    requests: [2, 3],
  },
  Ollama: { rules: [[thinks, says('', { reasoning: 'Let me see.' })]], requests: [2, 3] },
  OpenRouter: {
    rules: [],
    reply: {
      status: 200,
      body: { choices: [{ message: { content: answer } }], usage: { prompt_tokens: 10.5, cost: 1e-5 } },
    },
    requests: [1, 2],
  },
};

/** Requests with one of the parts that a server may refuse. */
const parts: Record<string, object> = {
  max_tokens: { max_tokens: 300 },
  temperature: { temperature: 0 },
  system: { messages: [{ role: 'system' }] },
  maxLength: { response_format: { type: 'json_schema', maxLength: 600 } },
  json_object: { response_format: { type: 'json_object' } },
  chat_template_kwargs: { chat_template_kwargs: {} },
  'reasoning_effort: none': { reasoning_effort: 'none' },
};

test.each(Object.entries(servers))('the page about models has what %s refuses', (name, { rules }) => {
  const plain = { messages: [{ role: 'user' }], reasoning_effort: 'low' };
  const refused = Object.entries(parts).filter(([, part]) =>
    rules.some(([refuses]) => refuses({ ...plain, ...part } as never)),
  );
  const rows = readFileSync('docs/use/models.md', 'utf8').matchAll(/^ {2}- ([^:]+): (.+)$/gm);
  const [, , stated] = [...rows].find(([, listed]) => listed?.split(', ').includes(name)) ?? [];
  expect(stated?.match(/(?<=`)[^`,]+(?=`)|nothing/g)?.toSorted()).toEqual(
    refused.length === 0 ? ['nothing'] : refused.map(([part]) => part).toSorted(),
  );
});

describe('OpenAI-compatible servers', () => {
  test.each(Object.entries(servers))(
    '%s gives a verdict, and what it refused once is not sent again',
    async (_, { rules, reply = good, requests }) => {
      await using server = await chatServer(
        ({ body }) => rules.find(([refuses]) => refuses(body))?.[1] ?? reply,
      );
      const vision = createOpenAiVision({ sheets, baseUrl: server.baseUrl, model: 'm', fetch });
      const counts: number[] = [];
      for (const condition of ['a person', 'a dog']) {
        const verdict = await judgeCondition(vision, look, { condition }, AbortSignal.timeout(10_000));
        expect(verdict.triggered).toBe(false);
        counts.push(server.arrived.length);
      }
      expect(counts).toEqual(requests);
    },
  );

  test('a parameter that is refused under each of its names is left out', async () => {
    await using server = await chatServer(({ body }) =>
      'max_tokens' in body
        ? openAiError('max_tokens', newLimit)
        : 'max_completion_tokens' in body
          ? extraForbidden('max_completion_tokens')
          : good,
    );
    const vision = createOpenAiVision({ sheets, baseUrl: server.baseUrl, model: 'm', fetch });
    expect(await judgeCondition(vision, look, { condition: 'x' }, AbortSignal.timeout(10_000))).toMatchObject(
      {
        triggered: false,
      },
    );
    expect(server.arrived).toHaveLength(3);
  });

  test('the query of a base URL stays behind the path, and a key for Azure has its own header', async () => {
    await using server = await chatServer(good);
    const baseUrl = server.baseUrl.replace('/v1', '/openai/deployments/vlm/?api-version=2024-10-21');
    const vision = createOpenAiVision({ sheets, baseUrl, model: 'm', apiKey: 'k', fetch });
    await judgeCondition(vision, look, { condition: 'x' }, AbortSignal.timeout(10_000));
    const [{ path, headers }] = server.arrived as [Arrived];
    expect(path).toBe('/openai/deployments/vlm/chat/completions?api-version=2024-10-21');
    expect([headers['api-key'], headers.authorization]).toEqual(['k', undefined]);
  });
});

const failure = (code: number, message = 'failed') => ({ error: { code, message } });
const says429 = { status: 200, body: failure(429) };

describe('error inside of a response with status 200', () => {
  const judge = async (...replies: Reply[]) => {
    await using server = await chatServer(...replies);
    const vision = createOpenAiVision({
      sheets,
      baseUrl: server.baseUrl,
      model: 'm',
      fetch,
      sleep: async () => undefined,
    });
    const verdict = await judgeCondition(vision, look, { condition: 'x' }, AbortSignal.timeout(10_000)).catch(
      (error: Error) => error,
    );
    return { verdict, calls: server.arrived.length };
  };

  test.each<[string, Reply]>([
    ['429', says429],
    ['503', { status: 200, body: failure(503) }],
    [
      '502 of a choice',
      {
        status: 200,
        body: { choices: [{ finish_reason: 'error', error: failure(502).error, message: { content: '' } }] },
      },
    ],
    ['a rate limit without a number', { status: 200, body: { error: 'Rate limit exceeded' } }],
    ['402 that states a wait', { status: 402, body: failure(402), headers: { 'retry-after': '2.5' } }],
  ])('a call with the error %s is repeated', async (_, reply) => {
    expect(await judge(reply, good)).toMatchObject({ verdict: { triggered: false }, calls: 2 });
  });

  test.each<[string, Reply, RegExp]>([
    ['402', { status: 200, body: failure(402, 'Insufficient credits') }, /no credit/],
    ['402 as a status', { status: 402, body: failure(402) }, /no credit/],
    ['401', { status: 200, body: failure(401) }, /API key/],
    ['a text', { status: 200, body: { error: 'out of memory' } }, /status 500/],
    [
      'a message alone, as of LM Studio',
      { status: 200, body: { error: { message: 'Vision add-on is not loaded, but images were provided' } } },
      /takes no images/,
    ],
    [
      'a filter',
      { status: 400, body: { error: { code: 'content_filter', message: 'filtered' } } },
      /refuses/,
    ],
  ])('the error %s is final, with its own remedy', async (_, reply, remediation) => {
    expect(await judge(reply)).toMatchObject({
      verdict: { remediation: expect.stringMatching(remediation) },
      calls: 1,
    });
  });
});

describe('redirect of a vision server', () => {
  const redirected = async (status: number, target: (origin: string) => string) => {
    await using other = await chatServer(good);
    await using server = await chatServer(({ path }) =>
      path === '/v1/chat/completions'
        ? { status, body: '', headers: { location: target(other.baseUrl) } }
        : good,
    );
    const vision = createOpenAiVision({ sheets, baseUrl: server.baseUrl, model: 'm', apiKey: 'k', fetch });
    const verdict = await judgeCondition(vision, look, { condition: 'x' }, AbortSignal.timeout(10_000)).catch(
      (error: Error) => error,
    );
    return { verdict, methods: server.arrived.map(({ method }) => method), elsewhere: other.arrived.length };
  };

  test.each([301, 302, 307, 308])('%i at the same server is followed with a POST', async (status) => {
    expect(await redirected(status, () => '/api/v1/chat/completions')).toMatchObject({
      verdict: { triggered: false },
      methods: ['POST', 'POST'],
    });
  });

  test.each([301, 302, 303, 307, 308])(
    '%i to another server is refused, which gets no key',
    async (status) => {
      expect(await redirected(status, (origin) => `${origin}/chat/completions`)).toMatchObject({
        verdict: { remediation: expect.stringContaining('WATCHPOST_OPENAI_URL') },
        elsewhere: 0,
      });
    },
  );
});
