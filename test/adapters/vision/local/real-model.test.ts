import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createFairTurns } from '../../../../adapters/embedded/load/fair-turns.ts';
import { createLocalVision } from '../../../../adapters/vision/local/local-vision.ts';
import { createModelHost, type ModelHost } from '../../../../adapters/vision/local/model-host.ts';
import { startModelProcess } from '../../../../adapters/vision/local/running-model.ts';
import { findRuntime } from '../../../../adapters/vision/local/runtime.ts';
import type { ModelRequest } from '../../../../adapters/vision/local/protocol.ts';
import { testPicture as frame } from '../../../../core/observability/model-status.ts';
import { setSystemTimer } from '../../../../core/time-limit.ts';
import { installRuntime, makeToyFiles } from '../../../models/toy-files.ts';
import { folderOfFile } from '../../../support/temporary-folder.ts';
import { labelledSheets as sheets } from '../../../support/vision/labelled-sheets.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';

/** The runtime itself, with a model of random weights: what it says is noise, and no test reads it. */

const toy = await makeToyFiles();
const runtime = findRuntime((await installRuntime()) ?? '/nonexistent');
const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

const within = () => AbortSignal.timeout(60_000);
const look = { mode: 'frames' as const, frame };
const verdict = {
  type: 'object',
  properties: { triggered: { type: 'boolean' }, explanation: { type: 'string', maxLength: 40 } },
  required: ['triggered', 'explanation'],
  additionalProperties: false,
};
const ask: ModelRequest = {
  system: 'You look at pictures.',
  text: 'Is it red?',
  pictures: [frame],
  schema: verdict,
  maxTokens: 200,
};

describe.skipIf(toy === undefined || runtime === undefined)('a model in a process of its own', () => {
  const files = toy ?? { model: '', projector: '' };

  function open({ contextTokens = 4096, ...given }: Partial<typeof files & { contextTokens: number }> = {}) {
    const processes: ReturnType<typeof startModelProcess>[] = [];
    const load = { runtime: runtime ?? '', ...files, ...given, threads: 1, contextTokens };
    const host = createModelHost({
      load,
      sizeBytes: 2e6,
      maxMemoryBytes: 1e9,
      steadyNowMs: () => performance.now(),
      start: () => {
        const child = startModelProcess();
        processes.push(child);
        return child;
      },
    });
    closers.push(() => host.close());
    return { host, processes };
  }

  function visionOf(host: ModelHost) {
    const turns = createFairTurns({
      max: 1,
      maxPerCaller: 1,
      maxWaitMs: 60_000,
      elapsedMs: () => 0,
      setTimer: setSystemTimer,
    });
    return createLocalVision({ host, model: 'toy', turns, sheets });
  }

  const shared = open();
  const vision = visionOf(shared.host);

  test('a check has a verdict in the forced form, and its tokens are counted', async () => {
    const { triggered, explanation, tokens } = await judgeCondition(
      vision,
      look,
      { condition: 'the picture is red' },
      within(),
    );
    expect([typeof triggered, typeof explanation]).toEqual(['boolean', 'string']);
    expect(tokens.input_tokens).toBeGreaterThan(100);
    expect(tokens.output_tokens).toBeGreaterThan(5);
  });

  test('an answer follows the schema, whatever the weights are', async () => {
    const schema = {
      type: 'object',
      properties: {
        verdict: { enum: ['yes', 'no', 'open'] },
        ids: { type: 'array', items: { enum: [7] }, maxItems: 2 },
      },
      required: ['verdict', 'ids'],
    };
    const { text, end } = await shared.host.call({ ...ask, schema }, within()).answer;
    expect(end).toBe('complete');
    expect(JSON.parse(text)).toEqual({
      verdict: expect.stringMatching(/^(?:yes|no|open)$/),
      ids: expect.any(Array),
    });
  });

  test('eight and 45 pictures are read in one call, in the order of the request', async () => {
    const sizes: number[] = [];
    for (const count of [1, 8, 45]) {
      const pictures = Array.from({ length: count }, () => frame);
      const { end, inputTokens } = await shared.host.call({ ...ask, pictures }, within()).answer;
      expect(end).toBe('complete');
      sizes.push(inputTokens);
    }
    const [one = 0, eight = 0, many = 0] = sizes;
    expect((many - eight) / 37).toBe((eight - one) / 7);
  });

  test('an answer is cut at its tokens and at the end of the context, and says so', async () => {
    const cut = await shared.host.call({ ...ask, maxTokens: 5 }, within()).answer;
    expect(cut).toMatchObject({ end: 'token limit', outputTokens: expect.any(Number) });
    const { host } = open({ contextTokens: 256 });
    const long = {
      ...verdict,
      properties: { ...verdict.properties, explanation: { type: 'string', minLength: 1900 } },
    };
    const full = await host.call({ ...ask, schema: long, maxTokens: 900 }, within()).answer;
    expect(full.end).toBe('context');
  });

  test('a request that is longer than the context is refused, and the next one is answered', async () => {
    const { host, processes } = open({ contextTokens: 256 });
    const pictures = Array.from({ length: 45 }, () => frame);
    expect(await host.call({ ...ask, pictures }, within()).answer).toMatchObject({
      end: 'context full',
      text: '',
    });
    expect((await host.call(ask, within()).answer).end).toBe('complete');
    expect(processes).toHaveLength(1);
  });

  test('a picture that cannot be decoded fails its call only', async () => {
    const broken = frame.slice(0, 40);
    expect((await shared.host.call({ ...ask, pictures: [broken] }, within()).answer).end).toBe('picture');
    expect((await shared.host.call(ask, within()).answer).end).toBe('complete');
    expect(shared.processes).toHaveLength(1);
  });

  test.each([
    [
      'a file that is no model',
      () => ({ model: write('wrong.gguf', Buffer.from('hello')) }),
      /cannot be loaded/,
    ],
    [
      'a model that is cut in the middle',
      () => ({ model: cutInHalf(files.model) }),
      /corrupted or incomplete/,
    ],
    [
      'a projector that is cut',
      () => ({ projector: cutInHalf(files.projector) }),
      /cannot be loaded.*tensor/,
    ],
    ['a projector that is a model', () => ({ projector: files.model }), /cannot be loaded/],
    ['a missing projector', () => ({ projector: '/nonexistent/p.gguf' }), /cannot be loaded/],
  ])('%s fails as a model fails, with the reason and without its folder', async (_, given, reason) => {
    const { host, processes } = open(given());
    const failure: unknown = await host.prepare(within()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'VLM_ERROR', remediation: expect.stringMatching(reason) });
    expect(failure).toMatchObject({ remediation: expect.not.stringContaining(folder) });
    await expect(host.call(ask, within()).answer).rejects.toMatchObject({
      remediation: expect.stringContaining('starts again in'),
    });
    expect(processes).toHaveLength(1);
    host.close();
  });

  test.each(['SIGKILL', 'SIGSEGV'] as const)(
    'a process that ends by %s during a call fails this call, and another answers the next',
    async (name) => {
      const { host, processes } = open();
      await host.prepare(within());
      const long = { ...ask, pictures: Array.from({ length: 45 }, () => frame) };
      const { answer, free } = host.call(long, within());
      setTimeout(() => processes[0]?.kill(name), 50);
      await expect(answer).rejects.toMatchObject({
        code: 'VLM_ERROR',
        remediation: expect.stringContaining(name),
      });
      await free;
      const again = async (): Promise<string> =>
        host.call(ask, within()).answer.then(
          ({ end }) => end,
          async () => new Promise<void>((resolve) => void setTimeout(resolve, 100)).then(again),
        );
      expect(await again()).toBe('complete');
      expect(processes).toHaveLength(2);
      host.close();
    },
  );

  test('an aborted call leaves the process to the next one', async () => {
    const abort = new AbortController();
    const long = { ...ask, pictures: Array.from({ length: 45 }, () => frame) };
    const { answer, free } = shared.host.call(long, abort.signal);
    setTimeout(() => abort.abort(new Error('enough')), 50);
    await expect(answer).rejects.toThrow('enough');
    await free;
    expect((await shared.host.call(ask, within()).answer).end).toBe('complete');
    expect(shared.processes).toHaveLength(1);
  });

  test('ten streams that ask together are all answered by one process', async () => {
    const asked = Array.from({ length: 10 }, async (_, at) =>
      judgeCondition(vision, look, { condition: `it is ${at}` }, within()),
    );
    const verdicts = await Promise.all(asked);
    expect(verdicts.map(({ triggered }) => typeof triggered)).toEqual(
      Array.from({ length: 10 }, () => 'boolean'),
    );
    expect(shared.processes).toHaveLength(1);
  });

  test.runIf(process.platform === 'linux')('the process has no variable of the service', () => {
    const environment = readFileSync(`/proc/${shared.processes[0]?.pid}/environ`, 'utf8');
    expect(environment).not.toMatch(/WATCHPOST|HOME=|AWS|TOKEN|npm_/);
  });

  const folder = folderOfFile();

  function write(name: string, bytes: Uint8Array): string {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  }

  function cutInHalf(path: string): string {
    const bytes = readFileSync(path);
    return write(`cut-${bytes.length}.gguf`, bytes.subarray(0, bytes.length / 2));
  }
});
