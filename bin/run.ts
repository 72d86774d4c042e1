import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { findUsageError, parseUsage } from './usage.ts';

/**
 * Runs the parts of a command of `package.json`: `npm run check` runs all of them that are not on request, `npm run
 * check -- words` one, and `npm run bench -- load 40x40` passes its arguments on, those of our scripts if their usage
 * has them. Ends with the first part that fails; those of `check` run beside each other, to the end.
 */

type Part = { run: string; onRequest?: true };

const onRequest = (run: string): Part => ({ run, onRequest: true });
/** The young generation of V8 is as large as in the service. */
const measured = (file: string): Part => onRequest(`node --max-semi-space-size=8 ${file}`);

const commands: Record<string, Record<string, Part>> = {
  check: {
    format: { run: 'oxfmt --check' },
    // On request: `lint` reports the errors of the compiler too, since its rules need the types of every file.
    types: onRequest('tsc && tsc -p console && tsc -p test/console'),
    lint: { run: 'oxlint --type-aware --type-check --deny-warnings' },
    unused: { run: 'knip' },
    words: { run: 'node test/vocabulary/check-process.ts' },
    openapi: { run: 'node test/adapters/openapi/lint-process.ts' },
    client: onRequest('node test/generated-client/check-process.ts'),
  },
  generate: {
    client: { run: 'node bin/client-types.ts' },
    events: { run: 'vitest run test/docs/event-bus.test.ts -t "schemas of the event bus" -u' },
    reference: { run: 'vitest run test/docs/reference.test.ts -u' },
    python: onRequest('node test/client/python-process.ts'),
    picture: onRequest(
      'vite build -c console/vite.config.ts --logLevel warn && node test/console/picture-process.ts',
    ),
  },
  simulate: {
    service: { run: 'node test/simulation/simulate-process.ts' },
    jobs: { run: 'SIMULATION_SEEDS=all vitest run test/simulation/virtual-jobs.test.ts' },
    visits: { run: 'SIMULATION_SEEDS=all vitest run test/simulation/virtual-visits.test.ts' },
    kinds: { run: 'TEST_KINDS=all vitest run test/adapters/media' },
    mutations: onRequest('node test/simulation/mutate-process.ts'),
  },
  fuzz: {
    api: { run: 'node test/fuzz/fuzz-process.ts' },
    media: onRequest('node test/fuzz/media/fuzz-process.ts'),
  },
  bench: {
    abuse: onRequest('node test/attacks/abuse/abuse-process.ts'),
    alerts: measured('bench/alerts.ts'),
    capture: onRequest('node bench/capture.ts'),
    'cold-start': onRequest('node bench/cold-start.ts'),
    load: measured('bench/load.ts'),
    loss: onRequest('node bench/loss.ts'),
    memory: measured('bench/memory.ts'),
    motion: onRequest('node bench/motion.ts'),
    objects: onRequest('node bench/objects.ts'),
    sizes: onRequest('node lib/bundle/sizes.ts'),
    start: onRequest('node bench/start.ts'),
    'time-line': measured('bench/time-line.ts'),
    visits: measured('bench/visits.ts'),
  },
};

const [command = '', name, ...rest] = process.argv.slice(2);
const parts = commands[command] ?? {};
process.exitCode = name === undefined ? await runAll(parts) : runPart(parts[name], rest);

async function runAll(all: Record<string, Part>): Promise<number> {
  const chosen = Object.values(all).filter((part) => !part.onRequest);
  if (chosen.length === 0) return explain();
  if (command === 'check') return Math.max(...(await Promise.all(chosen.map(runBeside))));
  for (const part of chosen) {
    const status = runPart(part);
    if (status !== 0) return status;
  }
  return 0;
}

/** Runs a part, most of which use one core, and prints its output when it ends. */
async function runBeside({ run }: Part): Promise<number> {
  const child = spawn(`{ ${run}; } 2>&1`, { stdio: ['inherit', 'pipe', 'inherit'], shell: true });
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)));
  process.stdout.write(await text(child.stdout));
  return ended;
}

function runPart(part: Part | undefined, given: readonly string[] = []): number {
  if (!part) return explain();
  const [, script] = /node (?:--\S+ )*(\S+\.ts)$/.exec(part.run) ?? [];
  if (script !== undefined) {
    const usage = parseUsage(readFileSync(script, 'utf8'));
    if (given.some((argument) => argument === '--help' || argument === '-h')) {
      process.stdout.write(`${usage.text}\n`);
      return 0;
    }
    const error = findUsageError(usage, given);
    if (error !== undefined) {
      process.stderr.write(`${error}\n`);
      return 2;
    }
  }
  const quoted = given.map((argument) => `'${argument.replaceAll("'", String.raw`'\''`)}'`);
  return spawnSync([part.run, ...quoted].join(' '), { stdio: 'inherit', shell: true }).status ?? 1;
}

function explain(): number {
  const names = Object.keys(parts);
  process.stderr.write(`Name one of: ${names.join(', ')}. For example: npm run ${command} -- ${names[0]}\n`);
  return 2;
}
