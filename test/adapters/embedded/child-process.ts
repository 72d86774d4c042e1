import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

type Child = ChildProcessByStdio<null, Readable, null>;

/** Runs a script of `test/adapters/embedded` in a separate process, which ends with its test at the latest. */
export function runScript(name: string, ...given: string[]): Child {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, [script, ...given], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Kills the process (-9) after a line of its output matches; resolves to its last complete line. */
export async function killWhen(child: Child, wanted: (line: string) => boolean): Promise<string> {
  let last = '';
  const closed = once(child, 'close');
  for await (const line of createInterface(child.stdout)) {
    last = line;
    if (wanted(line)) child.kill('SIGKILL');
  }
  await closed;
  return last;
}
