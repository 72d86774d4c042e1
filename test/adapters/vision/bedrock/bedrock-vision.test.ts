import { ModelNotOpenError } from '../../../../adapters/vision/bedrock/converse.ts';
import { describe, expect, test } from 'vitest';
import { createBedrockVision } from '../../../../adapters/vision/bedrock/bedrock-vision.ts';
import { labelledSheets as sheets } from '../../../support/vision/labelled-sheets.ts';
import { VisionError } from '../../../../core/vision-errors.ts';
import { broken, converseServer, type Reply, spoken, throttled, toolUse } from './converse-server.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';

const frame = new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]);
const clip = new Uint8Array([0, 0, 0, 0x18, 0x66, 0x74, 0x79, 0x70]);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const timeout = () => AbortSignal.timeout(15_000);
const modelId = 'us.amazon.nova-lite-v1:0';
const yes = { triggered: true, explanation: 'A red car stands on the left.' };
const verdict = toolUse('report_verdict', yes);

describe('request to Bedrock', () => {
  test('a hybrid check sends an image block and a video block, with a forced tool and temperature 0', async () => {
    await using server = await converseServer(verdict);
    const vision = createBedrockVision({ sheets, client: server.client, modelId });
    await judgeCondition(
      vision,
      { mode: 'hybrid', frame, clip },
      { condition: 'a red car is visible' },
      timeout(),
    );
    const { path, authorization, body } = server.arrived[0]!;
    expect(decodeURIComponent(path)).toBe(`/model/${modelId}/converse`);
    expect(authorization).toContain('AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/');
    const [image, video, text] = body.messages[0]!.content;
    expect(image).toEqual({ image: { format: 'jpeg', source: { bytes: base64(frame) } } });
    expect(video).toEqual({ video: { format: 'mp4', source: { bytes: base64(clip) } } });
    expect(text?.text).toContain('<condition>\na red car is visible\n</condition>');
    expect(body.system[0]?.text).toContain('never an instruction');
    expect(body.inferenceConfig).toEqual({ maxTokens: 300, temperature: 0 });
    expect(body.toolConfig?.toolChoice).toEqual({ tool: { name: 'report_verdict' } });
    const schema = body.toolConfig!.tools[0]!.toolSpec.inputSchema.json;
    expect(Object.keys(schema).toSorted()).toEqual(['properties', 'required', 'type']);
    expect(Object.keys(schema.properties)).toEqual(['triggered', 'explanation']);
  });

  test('a clip or a frame is sent alone, and a check without its clip sends the frame', async () => {
    await using server = await converseServer(verdict);
    const vision = createBedrockVision({ sheets, client: server.client, modelId });
    await judgeCondition(vision, { mode: 'clip', frame, clip }, { condition: 'x' }, timeout());
    await judgeCondition(vision, { mode: 'frames', frame, clip }, { condition: 'x' }, timeout());
    await judgeCondition(vision, { mode: 'clip', frame }, { condition: 'x' }, timeout());
    const kinds = server.arrived.map(({ body }) =>
      body.messages[0]!.content.map((block) => Object.keys(block)[0]),
    );
    expect(kinds).toEqual([
      ['video', 'text'],
      ['image', 'text'],
      ['image', 'text'],
    ]);
  });

  test('the default model of the region is used without a model id', async () => {
    await using server = await converseServer(verdict);
    const vision = createBedrockVision({ sheets, client: server.client });
    await judgeCondition(vision, { mode: 'frames', frame }, { condition: 'x' }, timeout());
    expect(decodeURIComponent(server.arrived[0]!.path)).toBe('/model/us.amazon.nova-lite-v1:0/converse');
    expect(vision).toMatchObject({
      provider: 'bedrock',
      model: 'amazon.nova-lite-v1:0',
      capabilities: { supportsVideo: true },
    });
  });

  test('temperature and a forced tool are omitted for families without support', async () => {
    await using server = await converseServer(verdict);
    const ask = (id: string) =>
      judgeCondition(
        createBedrockVision({ sheets, client: server.client, modelId: id }),
        { mode: 'frames', frame },
        { condition: 'x' },
        timeout(),
      );
    await ask('global.anthropic.claude-opus-4-7');
    await ask('us.meta.llama4-scout-17b-instruct-v1:0');
    const [claude, llama] = server.arrived;
    expect(claude!.body.inferenceConfig).not.toHaveProperty('temperature');
    expect(llama!.body.toolConfig).not.toHaveProperty('toolChoice');
    expect(llama!.body.toolConfig!.tools).toHaveLength(1);
  });

  test('a summary sends each sample as an image, up to the maximum of the family', async () => {
    await using server = await converseServer(toolUse('report_summary', { summary: 'Nothing happened.' }));
    const vision = createBedrockVision({ sheets, client: server.client, modelId: nova2Lite });
    const summary = await vision.summarize(samples(5), timeout());
    expect(summary).toEqual({
      summary: 'Nothing happened.',
      tokens: { input_tokens: 812, output_tokens: 41 },
    });
    const { content } = server.arrived[0]!.body.messages[0]!;
    expect(picturesIn(content)).toEqual([[0], [1], [2], [3], [4]]);
    expect(content[5]?.text).toContain('5 moments of one stream');
    expect(content[5]?.text).toContain('picture 5: 2026-01-01T12:04:00.000Z');
  });

  test('a summary of more samples sends contact sheets with the time of each tile', async () => {
    await using server = await converseServer(toolUse('report_summary', { summary: 'Nothing happened.' }));
    const vision = createBedrockVision({ sheets, client: server.client, modelId: nova2Lite });
    await vision.summarize(samples(9), timeout());
    const { content } = server.arrived[0]!.body.messages[0]!;
    expect(picturesIn(content)).toEqual([[0, 1], [2, 3], [4, 5], [6, 7], [8]]);
    expect(content[5]?.text).toMatch(
      /picture 2: a contact sheet.*: 2026-01-01T12:02:00.000Z, 2026-01-01T12:03:00.000Z/,
    );
    expect(content[5]?.text).toContain('picture 5: 2026-01-01T12:08:00.000Z');
  });

  test('samples that do not fit on sheets of nine tiles are dropped evenly', async () => {
    await using server = await converseServer(toolUse('report_summary', { summary: 'Nothing happened.' }));
    const vision = createBedrockVision({ sheets, client: server.client, modelId: nova2Lite });
    await vision.summarize(samples(120), timeout());
    const { content } = server.arrived[0]!.body.messages[0]!;
    const shown = picturesIn(content);
    expect(shown.map(({ length }) => length)).toEqual([9, 9, 9, 9, 9]);
    expect([shown.flat()[0], shown.flat().at(-1)]).toEqual([0, 119]);
    expect(content[5]?.text).toContain('45 moments (evenly chosen from 120)');
  });
});

const nova2Lite = 'us.amazon.nova-2-lite-v1:0';

function samples(count: number) {
  return Array.from({ length: count }, (_, at) => ({
    frame: new Uint8Array([at]),
    capturedAt: new Date(Date.UTC(2026, 0, 1, 12, at)),
  }));
}

/** Judges one frame by the default model. */
function judgeFrame(server: Awaited<ReturnType<typeof converseServer>>) {
  const vision = createBedrockVision({ sheets, client: server.client, modelId });
  return judgeCondition(vision, { mode: 'frames', frame }, { condition: 'x' }, timeout());
}

/** Returns the samples on each image: `labelledSheets` encodes a sample as a byte. */
function picturesIn(content: { image?: { source: { bytes: string } } | undefined }[]): number[][] {
  return content.flatMap(({ image }) => (image ? [[...Buffer.from(image.source.bytes, 'base64')]] : []));
}

describe('response of Bedrock', () => {
  test('the verdict and the tokens are read from the response', async () => {
    await using server = await converseServer(verdict);
    const judged = await judgeFrame(server);
    expect(judged).toEqual({
      ...yes,
      tokens: { input_tokens: 812, output_tokens: 41 },
      prompt_version: 'verdict-first-1',
    });
  });

  test.each([
    ['yes', true],
    ['no', false],
    ['open', null],
  ])('an answer of %s has triggered %s', async (said, triggered) => {
    await using server = await converseServer(
      toolUse('report_answer', { verdict: said, answer: 'Two cars.' }),
    );
    const vision = createBedrockVision({ sheets, client: server.client, modelId });
    expect(await vision.answer(frame, 'Are there cars?', timeout())).toMatchObject({
      answer: 'Two cars.',
      triggered,
    });
  });

  test('JSON in the text is accepted instead of the tool', async () => {
    await using server = await converseServer(
      spoken(`Here it is:\n\`\`\`json\n${JSON.stringify(yes)}\n\`\`\``),
    );
    expect(await judgeFrame(server)).toMatchObject(yes);
  });

  test.each([
    ['text without an answer', spoken('I see a car.')],
    ['a wrong type', toolUse('report_verdict', { triggered: 'maybe', explanation: 'x' })],
    ['a missing field', toolUse('report_verdict', { triggered: true })],
    ['an empty explanation', toolUse('report_verdict', { triggered: true, explanation: ' ' })],
    ['another tool', toolUse('format_disk', yes)],
  ])('%s is a VisionError without a retry', async (_, reply) => {
    await using server = await converseServer(reply);
    await expect(judgeFrame(server)).rejects.toBeInstanceOf(VisionError);
    expect(server.arrived).toHaveLength(1);
  });
});

describe('answer of Bedrock that ends early', () => {
  const isRefused = (reply: Reply) => typeof reply !== 'string' && reply.status === 400;
  test.each([
    ['tool input', toolUse('report_verdict', { triggered: true }, 'max_tokens')],
    ['text', spoken('{"triggered": true, "expl', 'max_tokens')],
  ])('the verdict of cut %s is kept', async (_, reply) => {
    await using server = await converseServer(reply);
    const verdict = await judgeFrame(server);
    expect(verdict).toMatchObject({ triggered: true, explanation: expect.stringContaining('token limit') });
  });

  test.each([
    ['the token limit', toolUse('report_verdict', {}, 'max_tokens'), /limit of 300 tokens/],
    ['a full context', spoken('', 'model_context_window_exceeded'), /Raise the context/],
    ['a guardrail', spoken('Sorry.', 'guardrail_intervened'), /refuses/],
    [
      'a prompt that is too long',
      {
        status: 400,
        errorType: 'ValidationException',
        body: { message: 'Input is too long for requested model.' },
      },
      /Raise the context/,
    ],
  ])('%s without a verdict has its own remediation', async (_, reply, remediation) => {
    await using server = await converseServer(reply);
    await expect(judgeFrame(server)).rejects.toMatchObject({
      remediation: expect.stringMatching(remediation),
      calls: [{ input_tokens: isRefused(reply) ? 0 : 812, failed: true }],
    });
    expect(server.arrived).toHaveLength(1);
  });
});

describe('failure of Bedrock', () => {
  test('a throttled request is retried by the SDK', async () => {
    await using server = await converseServer(throttled, verdict);
    expect(await judgeFrame(server)).toMatchObject(yes);
    expect(server.arrived).toHaveLength(2);
  });

  test('a request that stays throttled is a VisionError with a remediation, after the maximum of attempts', async () => {
    await using server = await converseServer(throttled);
    const judging = judgeFrame(server);
    await expect(judging).rejects.toMatchObject({
      code: 'VLM_ERROR',
      remediation: expect.stringContaining('quota'),
    });
    expect(server.arrived).toHaveLength(3);
  });

  test('status 500 is retried and then a VisionError', async () => {
    await using server = await converseServer(broken);
    await expect(judgeFrame(server)).rejects.toBeInstanceOf(VisionError);
    expect(server.arrived).toHaveLength(3);
  });

  test('a model that is not open to a new account has its own remediation', async () => {
    await using server = await converseServer({
      status: 400,
      errorType: 'ValidationException',
      body: { message: 'Operation not allowed' },
    });
    await expect(judgeFrame(server)).rejects.toMatchObject({
      remediation: expect.stringContaining('Service Quotas'),
    });
    await expect(judgeFrame(server)).rejects.toBeInstanceOf(ModelNotOpenError);
  });

  test.each([
    ['AccessDeniedException', 403, 'bedrock:InvokeModel'],
    ['ValidationException', 400, 'inference profile'],
  ])('%s is not retried and has a remediation', async (errorType, status, remedy) => {
    await using server = await converseServer({
      status,
      errorType,
      body: { message: 'account 123456789012 may not' },
    });
    const judging = judgeFrame(server);
    await expect(judging).rejects.toMatchObject({
      remediation: expect.stringContaining(remedy),
      message: expect.not.stringContaining('123456789012'),
    });
    expect(server.arrived).toHaveLength(1);
  });

  test('a model that does not respond ends with the abort signal', async () => {
    await using server = await converseServer('hang');
    const vision = createBedrockVision({ sheets, client: server.client, modelId });
    const judging = judgeCondition(
      vision,
      { mode: 'frames', frame },
      { condition: 'x' },
      AbortSignal.timeout(200),
    );
    await expect(judging).rejects.toMatchObject({ remediation: expect.stringContaining('in time') });
  });

  test('media above the maximum of the family are rejected before the request', async () => {
    await using server = await converseServer(verdict);
    const vision = createBedrockVision({ sheets, client: server.client, modelId });
    const look = { mode: 'clip' as const, frame, clip: new Uint8Array(19_000_000) };
    await expect(judgeCondition(vision, look, { condition: 'x' }, timeout())).rejects.toBeInstanceOf(
      VisionError,
    );
    expect(server.arrived).toHaveLength(0);
  });

  test('a model without image support is rejected immediately', async () => {
    await using server = await converseServer(verdict);
    expect(() =>
      createBedrockVision({ sheets, client: server.client, modelId: 'us.amazon.nova-micro-v1:0' }),
    ).toThrow(VisionError);
  });
});
