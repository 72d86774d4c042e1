import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, promisify } from 'node:util';
import { ensureFfmpeg } from '../../cli/ensure-ffmpeg.ts';
import { openTerminal } from '../../cli/terminal.ts';
import { createContactSheets } from '../../adapters/media/images/contact-sheet.ts';
import { createModelHost } from '../../adapters/vision/local/model-host.ts';
import { startModelProcess } from '../../adapters/vision/local/running-model.ts';
import { findRuntime } from '../../adapters/vision/local/runtime.ts';
import { createChat, createOpenAiVision } from '../../adapters/vision/openai/openai-vision.ts';
import { judgeTask } from '../../adapters/vision/prompt.ts';
import { promptNames } from '../../adapters/vision/prompt-variants.ts';
import { type LlamaOptions, startLlamaServer } from './llama-server.ts';
import { checkService } from './check-service.ts';
import { installRuntime, makeToyFiles } from './toy-files.ts';
import { judgeCondition } from '../../core/ports/vision-model.ts';

/**
 * Runs what a model of random weights can show, `npm run test:models`: the OpenAI adapter against llama.cpp's own
 * server, the memory of a local model over 1,000 checks, and the service with a local model on live streams. What such
 * a model says is noise. Installs Python packages and the runtime into `node_modules/.cache`; exit code 75 says that
 * they cannot be had.
 */

const files = await makeToyFiles();
const runtime = await installRuntime();
if (files === undefined || runtime === undefined) {
  process.exitCode = 75;
  throw new Error('SKIPPED: Python packages or the runtime cannot be installed');
}
const { path: ffmpegPath } = await ensureFfmpeg('', process.env, openTerminal(process.env));
const sheets = createContactSheets({ ffmpegPath });
const set = 'cli/evaluate/basic-set';
const pictures = readdirSync(set)
  .filter((name) => name.endsWith('.jpg'))
  .map((name) => new Uint8Array(readFileSync(join(set, name))));
const [frame = new Uint8Array()] = pictures;
const look = { mode: 'frames' as const, frame };
const within = () => AbortSignal.timeout(120_000);
let failed = 0;

async function check(title: string, work: () => Promise<string | undefined>): Promise<void> {
  const startedMs = performance.now();
  const problem = await work().catch((error: unknown) => inspect(error, { depth: 4 }));
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  if (problem === undefined) console.log(`ok      ${title} (${seconds} s)`);
  else {
    failed += 1;
    console.log(`FAILED  ${title} (${seconds} s)\n        ${problem}`);
  }
}

/** Starts a server for one check. */
async function withServer(
  options: Partial<LlamaOptions>,
  work: (baseUrl: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  await using server = await startLlamaServer({ ...whole, context: 16_384, slots: 1, ...options });
  if (server === undefined) return 'The server cannot be installed';
  // Awaited here: the server ends with this block.
  const problem = await work(server.baseUrl);
  return problem;
}
const whole = files;

function visionAt(baseUrl: string) {
  return createOpenAiVision({ baseUrl, model: 'toy', fetch, sheets });
}

/** Runs a command of Watchpost with the server as its model. Returns its output; a verdict of noise may fail it. */
async function watchpost(baseUrl: string, ...args: string[]): Promise<string> {
  const env = {
    ...process.env,
    WATCHPOST_VISION: 'openai',
    WATCHPOST_VISION_MODEL: 'toy',
    WATCHPOST_OPENAI_URL: baseUrl,
    WATCHPOST_PORT: '0',
    WATCHPOST_DATA_DIR: folder,
  };
  const run = promisify(execFile)(process.execPath, ['cli/watchpost.ts', ...args], { env });
  return run.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

/** Returns a problem unless the work fails with this sentence for users. */
async function expectRemedy(work: Promise<unknown>, remedy: RegExp): Promise<string | undefined> {
  const failure: unknown = await work.then(
    () => 'an answer',
    (error: unknown) => error,
  );
  const text =
    typeof failure === 'object' && failure !== null && 'remediation' in failure
      ? failure.remediation
      : failure;
  return remedy.test(String(text)) ? undefined : `expected ${remedy}, got: ${String(text)}`;
}

const folder = await mkdtemp(join(tmpdir(), 'watchpost-models-'));

await check("llama.cpp's server: doctor names the model and its answer", async () =>
  withServer({}, async (url) => {
    const { checks } = JSON.parse(await watchpost(url, 'doctor', '--json'));
    const [model] = checks.filter(({ check: name }: { check: string }) => name === 'model');
    return /openai, toy: answered/.test(model.message) ? undefined : JSON.stringify(model);
  }),
);

await check("llama.cpp's server: evaluate runs the four prompts", async () =>
  withServer({}, async (url) => {
    const prompts = promptNames.flatMap((name) => ['--prompt', name]);
    const output = await watchpost(url, 'evaluate', 'basic', '--tag', 'color', ...prompts);
    const rows = output.split('\n').filter((line) => /\s0\/\d+\s/.test(line));
    return rows.length === promptNames.length ? undefined : output;
  }),
);

await check("llama.cpp's server: 8 and 45 pictures, and frames of one stream", async () =>
  withServer({}, async (url) => {
    const vision = visionAt(url);
    const samples = (count: number) =>
      Array.from({ length: count }, (_, at) => ({
        frame: pictures[at % pictures.length] ?? frame,
        capturedAt: new Date(at * 1000),
      }));
    const eight = await vision.summarize(samples(8), within());
    const many = await vision.summarize(samples(45), within());
    if (eight.summary === '' || many.summary === '') return 'a summary is empty';
    const { tokens } = await createChat({ baseUrl: url, model: 'toy', fetch })(
      judgeTask('frame', 'it is red'),
      { pictures: Array.from({ length: 45 }, () => frame) },
      within(),
    );
    return tokens.input_tokens > 45 * 8 ? undefined : `45 pictures took ${tokens.input_tokens} tokens`;
  }),
);

await check("llama.cpp's server: an answer that is cut says so", async () =>
  withServer({}, async (url) => {
    const task = { ...judgeTask('frame', 'it is red'), maxTokens: 2 };
    const chat = createChat({ baseUrl: url, model: 'toy', fetch });
    return expectRemedy(chat(task, { pictures: [frame] }, within()), /limit of 2 tokens cut the answer/);
  }),
);

await check("llama.cpp's server without a projector: the sentence names pictures", async () =>
  withServer({ projector: '' }, async (url) =>
    expectRemedy(
      judgeCondition(visionAt(url), look, { condition: 'it is red' }, within()),
      /takes no images.*--mmproj/,
    ),
  ),
);

await check("llama.cpp's server: a context that is too small is named", async () =>
  withServer({ context: 256 }, async (url) =>
    expectRemedy(
      judgeCondition(visionAt(url), look, { condition: 'it is red' }, within()),
      /Raise the context.*-c/,
    ),
  ),
);

await check("llama.cpp's server with two slots: each has half of the context", async () =>
  withServer({ context: 1024, slots: 1 }, async (url) => {
    await judgeCondition(visionAt(url), look, { condition: 'it is red' }, within());
    return withServer({ context: 1024, slots: 2 }, async (halved) =>
      expectRemedy(
        judgeCondition(visionAt(halved), look, { condition: 'it is red '.repeat(40) }, within()),
        /Raise the context.*-np 1/,
      ),
    );
  }),
);

await check('local model: its memory stays level over 1,000 checks', async () => {
  const module = findRuntime(runtime);
  if (module === undefined) return 'the runtime is not installed';
  let pid: number | undefined;
  const host = createModelHost({
    load: { runtime: module, ...whole, threads: 1, contextTokens: 4096 },
    sizeBytes: 2e6,
    maxMemoryBytes: 1e9,
    steadyNowMs: () => performance.now(),
    start: () => {
      const child = startModelProcess();
      pid = child.pid;
      return child;
    },
  });
  const levels: number[] = [];
  for (let at = 1; at <= 1000; at += 1) {
    const given = pictures.slice(at % 8, (at % 8) + 1 + (at % 4));
    const text = `Is it ${'very '.repeat(at % 30)}red?`;
    const request = { system: 'Look.', text, pictures: given, schema: { enum: ['yes', 'no'] }, maxTokens: 9 };
    await host.call(request, within()).answer;
    if (at % 200 === 0) levels.push(await readMemoryMb(pid));
  }
  host.close();
  console.log(`        MB after 200, 400, … checks: ${levels.join(', ')}`);
  const [first = 0, last = 0] = [levels[0], levels.at(-1)];
  return last <= first * 1.1 + 2 ? undefined : 'the memory grows';
});

await check(
  'the service with a local model: HLS and RTSP are judged, and a killed process comes back',
  async () => checkService({ ...whole, runtime, ffmpegPath, dataDir: folder }),
);

await rm(folder, { recursive: true, force: true });
console.log(failed === 0 ? 'All checks passed' : `${failed} checks failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function readMemoryMb(pid: number | undefined): Promise<number> {
  await sleep(50);
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Math.round(Number(stdout) / 1024);
}
