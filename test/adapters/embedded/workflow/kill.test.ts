import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { executionName } from '../../../../core/records/workflow.ts';
import { executionInput } from './scripted-job.ts';
import { openStore } from './test-engine.ts';

const program = fileURLToPath(new URL('execution-process.ts', import.meta.url));
const executions = 8;
const ticks = 12;

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'watchpost-kill-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const database = () => join(folder, 'watchpost.sqlite');
const callsFile = () => join(folder, 'calls.jsonl');

function calls(): string[] {
  return readFileSync(callsFile(), 'utf8').trim().split('\n');
}

/** Runs the program until it ends or kills itself after that number of calls. Resolves to its exit code or signal. */
async function life(killAfterCalls?: number): Promise<NodeJS.Signals | number | null> {
  const counts = [executions, ticks, killAfterCalls ?? ''].map(String);
  const child = spawn(process.execPath, [program, database(), callsFile(), ...counts], { stdio: 'inherit' });
  await once(child, 'exit');
  return child.signalCode ?? child.exitCode;
}

function listCalls(job: string): string[] {
  const prefix = `${job} `;
  return calls().flatMap((line) => (line.startsWith(prefix) ? [line.slice(prefix.length)] : []));
}

const withoutRepeats = (names: string[]) => names.filter((name, i) => name !== names[i - 1]);

// Four processes in sequence take several seconds on a busy machine.
test(
  'executions whose process is killed repeatedly all end, with every tick in order',
  { timeout: 90_000 },
  async () => {
    const kills = [5, 50, 50];
    for (const killAfterCalls of kills) expect(await life(killAfterCalls)).toBe('SIGKILL');
    expect(openStore(database()).running().length).toBeGreaterThan(0);
    expect(await life()).toBe(0);

    const expected = [
      'begin',
      ...Array.from({ length: ticks }, (_, i) => [`capture ${i + 1}`, `analyze ${i + 1}`]).flat(),
    ];
    const store = openStore(database());
    for (let i = 0; i < executions; i++) {
      const input = executionInput(i);
      expect(store.find(executionName(input))?.progress).toMatchObject({
        status: 'succeeded',
        state: 'Finished',
      });
      const made = listCalls(input.job_id);
      expect(withoutRepeats(made)).toEqual(expected);
      expect(made.length - expected.length).toBeLessThanOrEqual(kills.length);
    }
  },
);
