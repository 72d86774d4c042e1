import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allCases } from '../conformance/cases/index.ts';
import { createClient } from '../../client/index.ts';
import { startLiveHls } from '../../cli/demo/live-hls.ts';
import { ensureFfmpeg } from '../../cli/ensure-ffmpeg.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';
import { openTerminal } from '../../cli/terminal.ts';
import { layerPath, setup as fetchLayerFfmpeg } from '../support/runner/layer-ffmpeg.ts';
import { startBedrock } from './bedrock-endpoint.ts';
import { queueBusEvents } from './bus-queue.ts';
import { deploy } from './deployment.ts';
import { emulatorPackage, startEmulator } from './emulator.ts';
import { keyMaker } from './first-keys.ts';
import { startFront } from './front.ts';
import { installPython } from '../support/python/python-tool.ts';
import { signInByEdge } from './sign-in.ts';
import { readHistories } from './histories.ts';
import { knownGaps, runsOnEmulator, timedCases, waitingCase } from './known-gaps.ts';
import { installRuntimeClient } from './runtime-client.ts';
import { troubles } from './service-log.ts';
import { isPermitted, listGrants, type RoleRequest } from '../lib/iam/simulate.ts';
import { addToRecord, modelRequests, readRequests } from './recorded-requests.ts';
import { createStreamRuntime } from './stream-runtime.ts';
import { clipThrough } from './clip-through.ts';
import { eraseThrough } from './erase-through.ts';
import { watchThrough } from './watch-through.ts';

/**
 * Tests the whole stack on an independent emulator (`npm run test:aws`): deploys it with the CDK CLI, runs one monitor
 * from POST to `job_stopped`, the smoke test and cases of each kind of the conformance suite. With `--all` it runs all
 * cases, and what `npm test` leaves out: rules of the CDK and of cfn-lint for each stage, and roles and regions of all
 * kinds. With `--only ID` it runs those cases only. Exit code 0 if all pass. `--keep` retains the logs and prints their
 * folder.
 */

const keep = process.argv.includes('--keep');
const takesAll = process.argv.includes('--all');
const only = process.argv.flatMap((id, index, all) => (all[index - 1] === '--only' ? ['--only', id] : []));
await using cleanup = new AsyncDisposableStack();
const directory = keep
  ? mkdtempSync(join(tmpdir(), 'watchpost-aws-'))
  : cleanup.use(openTemporaryFolder('watchpost-aws-')).path;
if (keep) cleanup.defer(() => say(`Logs retained in ${directory}`));

// The functions on AWS have that ffmpeg too.
await fetchLayerFfmpeg();
process.env['PATH'] = layerPath;
const { path: ffmpeg } = await ensureFfmpeg(
  process.env['WATCHPOST_FFMPEG'] ?? '',
  process.env,
  openTerminal(process.env),
);
const ricPath = await prepared(async () => installRuntimeClient());
await prepared(() => installPython(emulatorPackage));
const bedrock = await startBedrock(ffmpeg);
cleanup.defer(bedrock.close);
const emulator = await startEmulator(directory);
cleanup.defer(emulator.stop);
say(`MiniStack started on ${emulator.endpoint}`);

const deployment = await deploy(emulator, directory, { bedrockEndpoint: bedrock.endpoint, ffmpeg });
say(
  `Deployed ${deployment.stackName} with cdk deploy. Omitted: ${deployment.leftOut.join('; ') || 'nothing'}`,
);

// A numeric address, so that S3 uses path-style URLs: names below localhost do not resolve.
const own = { AWS_ENDPOINT_URL: `http://127.0.0.1:${emulator.port}` };
const startRuntime = async (name: string) => {
  const environment = { ...(await deployment.readEnvironment(name)), ...emulator.environment, ...own };
  const runtime = createStreamRuntime({ ricPath, bundles: deployment.bundles, environment, directory });
  cleanup.defer(runtime.close);
  return runtime;
};
const front = await startFront(emulator, deployment, {
  stream: await startRuntime('-StreamFunction'),
  events: await startRuntime('-EventsStreamFunction'),
});
cleanup.defer(front.close);
const live = await startLiveHls({
  ffmpegPath: ffmpeg,
  inputArgs: ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=10'],
  segmentSeconds: 1,
  host: '127.0.0.1',
});
cleanup.defer(live.close);

const makeKey = keyMaker(emulator, deployment.outputs['TableName'] ?? '');
say(`Console: ${await signInByEdge(front.baseUrl, await makeKey('owner'))}`);
const readBus = await queueBusEvents(emulator, deployment.stackName);
try {
  say(`Monitor: ${await watchThrough(front.baseUrl, await makeKey('watcher'), live.url, readBus)}`);
  say(`Clip: ${await clipThrough(front.baseUrl, await makeKey('filmer'), live.url)}`);
  const leaving = {
    caller: 'leaver',
    apiKey: await makeKey('leaver'),
    adminKey: await makeKey('eraser', ['admin']),
  };
  const table = { endpoint: emulator.endpoint, tableName: deployment.outputs['TableName'] ?? '' };
  say(`Erasure: ${await eraseThrough(front.baseUrl, leaving, live.url, table)}`);
} catch (error) {
  for (const line of await troubles(emulator, deployment.outputs['LogGroupName'] ?? '')) say(line);
  throw error;
}
say(
  `Model calls: ${bedrock.calls.length}, to ${[...new Set(bedrock.calls.map(({ model }) => model))].join(', ')}`,
);

process.exitCode =
  (only.length === 0 && (await smoke())) ||
  (await conformance()) ||
  (await checkPolicies()) ||
  (await checkHistories()) ||
  (takesAll && (await checkStages())) ||
  (await checkTeardown());

/** Prepares a dependency. Without package registry or build tool the test is skipped with exit code 75. */
async function prepared<Made>(install: () => Promise<Made>): Promise<Made> {
  try {
    return await install();
  } catch (error) {
    say(`SKIPPED: a dependency of the test cannot be installed: ${String(error)}`);
    // oxlint-disable-next-line unicorn/no-process-exit -- no resource needs to be closed yet
    process.exit(75);
  }
}

/** Runs `npm run smoke` as an operator does, with the addresses of the emulator. */
async function smoke(): Promise<number> {
  const helper = `http://127.0.0.1:${emulator.port}/_aws/execute-api/{id}/$default`;
  const addresses = ['--base-url', front.baseUrl, '--helper-url', helper];
  const child = spawn(
    process.execPath,
    ['bin/smoke.ts', '--stack', deployment.stackName, '--hold', '3', '--timeout', '90', ...addresses],
    { stdio: 'inherit', env: { ...process.env, ...emulator.environment, ...own } },
  );
  const [code] = await once(child, 'close');
  return code ?? 1;
}

/**
 * Runs the conformance suite in processes of its own: first the cases that measure seconds, then the others. The case
 * that waits two minutes does so beside both.
 */
async function conformance(): Promise<number> {
  const callers = await Promise.all(['one', 'two', 'three', 'four'].map((caller) => makeKey(caller)));
  const internal = await makeKey('operator', ['jobs', 'internal', 'admin']);
  const keys = callers.flatMap((key) => ['--key', key]);
  const retry = process.env['CI'] === 'true' ? ['--retry'] : [];
  const args = [
    '--base-url',
    front.baseUrl,
    ...keys,
    '--internal-key',
    internal,
    '--ffmpeg',
    ffmpeg,
    ...retry,
  ];
  if (only.length > 0) return runSuite([...args, '--at-once', '4', ...only]);
  for (const [id, reason] of Object.entries(knownGaps)) say(`omitted: ${id}: ${reason}`);
  const ids = allCases.map(({ id }) => id).filter((id) => runsOnEmulator(id, takesAll));
  const apart = [...timedCases, waitingCase];
  const run = (chosen: readonly string[], ...options: string[]) =>
    runSuite([
      ...args,
      ...options,
      ...chosen.filter((id) => ids.includes(id)).flatMap((id) => ['--only', id]),
    ]);
  const waiting = takesAll ? run([waitingCase], '--retention', '120') : 0;
  const timed = await run(timedCases, '--at-once', '1');
  // The emulator starts one process per concurrent invocation.
  const others =
    timed ||
    (await run(
      ids.filter((id) => !apart.includes(id)),
      '--at-once',
      takesAll ? '8' : '4',
    ));
  return (await waiting) || others;
}

/**
 * Simulates every request of a function against the policies of its role, and compares them with those that other
 * stages are tested with.
 */
async function checkPolicies(): Promise<number> {
  const requests = [
    ...readRequests(emulator.requestsFile, deployment.template, deployment.stackName),
    ...modelRequests(bedrock.calls),
  ];
  const grants = listGrants(deployment.template.Resources);
  const denied: RoleRequest[] = [];
  for (const request of requests) if (!(await isPermitted(request, grants))) denied.push(request);
  for (const request of denied) say(`No policy permits ${JSON.stringify(request)}`);
  const news = addToRecord(requests, process.argv.includes('--record'));
  for (const request of news) say(`New request: ${JSON.stringify(request)}`);
  say(`Policies: ${requests.length} different requests of functions, ${denied.length} denied`);
  if (news.length > 0) say('npm run test:aws -- --record adds them to test/lib/iam/requests.snapshot.json');
  return denied.length === 0 ? 0 : 1;
}

/** Step Functions keeps histories for 90 days, whatever the service erases. */
async function checkHistories(): Promise<number> {
  const { StateMachineArn: current = '' } = deployment.outputs;
  const { executions, foreign } = await readHistories(emulator, [
    current,
    current.replace(/-jobs$/, '-watch'),
  ]);
  for (const found of foreign.slice(0, 20)) say(`In a history: ${found}`);
  say(
    `Histories of ${executions} executions: ${foreign.length} values that are more than ids, times and numbers`,
  );
  return foreign.length === 0 && executions > 0 ? 0 : 1;
}

/** Holds each stage to all rules, and compares its templates in all regions. */
async function checkStages(): Promise<number> {
  const files = ['stage-kinds', 'iam/simulate'].map((name) => `test/lib/${name}.test.ts`);
  const child = spawn('npx', ['vitest', 'run', ...files], {
    stdio: 'inherit',
    env: { ...process.env, STAGE_RULES: 'all' },
  });
  const [code] = await once(child, 'close');
  return code ?? 1;
}

/** The name of a state machine is taken until the last of its executions has ended. */
async function checkTeardown(): Promise<number> {
  const watchpost = createClient({ baseUrl: front.baseUrl, apiKey: await makeKey('waiting') });
  await watchpost.createWatch({
    name: 'Waiting',
    stream_url: live.url,
    conditions: [{ condition: 'The picture is black' }],
    interval_seconds: 300,
  });
  say(`npm run destroy, then cdk deploy of the same stage: ${await deployment.deployAgain()}`);
  return 0;
}

async function runSuite(args: string[]): Promise<number> {
  const child = spawn(process.execPath, ['test/conformance/main.ts', ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'close');
  return code ?? 1;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
