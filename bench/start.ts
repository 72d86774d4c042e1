/**
 * Measures the time from the start of the packed service until `/healthz` responds: packed here, installed by npm in an
 * empty folder, each time with a new data directory. Processor time, on Linux, is less disturbed by other work on the
 * machine.
 *
 * Usage: npm run bench -- start
 *   --rounds 11   starts
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { freePort } from '../test/support/servers/free-port.ts';
import { describeMachine, quantile } from './harness.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '11' } } });
using folder = openTemporaryFolder('watchpost-start-');
const npm = (...words: string[]) =>
  execFileSync('npm', words, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
const packed = npm('pack', '--silent', '--pack-destination', folder.path).trim().split('\n').at(-1) ?? '';
npm(
  'install',
  '--prefix',
  folder.path,
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
  join(folder.path, packed),
);

const starts: { taken: number; processor: number }[] = [];
for (let round = 0; round < Number(values.rounds); round += 1) starts.push(await start(round));
const taken = starts.map((each) => each.taken);
const processor = starts.map((each) => each.processor);
const show = (milliseconds: number) => `${(milliseconds / 1000).toFixed(2)} s`;
process.stdout.write(
  `${describeMachine()}\n${packed}: ${taken.length} starts, median ${show(quantile(taken, 0.5))}, longest ${show(Math.max(...taken))}; processor ${show(quantile(processor, 0.5))}\n`,
);

async function start(round: number) {
  const port = await freePort();
  const data = join(folder.path, `data-${round}`);
  const launcher = join(folder.path, 'node_modules/watchpost/cli/launch.js');
  const startedAt = performance.now();
  const service = spawn(process.execPath, [launcher, 'start', '--port', String(port), '--data-dir', data], {
    stdio: 'ignore',
  });
  try {
    while (!(await responds(port))) {
      if (service.exitCode !== null) throw new Error('The service ended');
      await sleep(5);
    }
    return { taken: performance.now() - startedAt, processor: readProcessorTime(service.pid) };
  } finally {
    service.kill('SIGTERM');
    if (service.exitCode === null) await once(service, 'close');
  }
}

/** Returns the processor time of a process, in milliseconds: ticks of 10 ms (proc_pid_stat(5)). */
function readProcessorTime(pid = 0): number {
  const file = `/proc/${pid}/stat`;
  const fields = existsSync(file) ? readFileSync(file, 'utf8').split(' ') : [];
  return 10 * (Number(fields[13] ?? NaN) + Number(fields[14] ?? NaN));
}

async function responds(port: number): Promise<boolean> {
  // oxlint-disable-next-line no-restricted-globals
  return fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
