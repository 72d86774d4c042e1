import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A terminal as a reader has it open: what is set in one block holds in the next. */
export type Shell = {
  /** Resolves with what was printed. Rejects when a command of the block fails. */
  run(block: string): Promise<string>;
  close(): Promise<void>;
};

/** A terminal in which something goes on running. */
export type Terminal = { command: string; output(): string; close(): Promise<void> };

type Place = { directory: string; env: NodeJS.ProcessEnv };

const patienceMs = 90_000;

/** What a reader would notice, such as a refusal instead of an answer, is a failure. */
const prelude = 'exec 2>&1\nset -eo pipefail\ncurl() { command curl --fail-with-body "$@"; }\n';

export function openShell({ directory, env }: Place): Shell {
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd: directory,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = collect(child);
  child.stdin.write(prelude);
  let count = 0;

  return {
    run: async (block) => {
      count += 1;
      const [from, marker] = [output().length, `--- block ${count} is done ---`];
      child.stdin.write(`{\n${block}\n} </dev/null\necho '${marker}'\n`);
      for (const until = Date.now() + patienceMs; !output().includes(marker); await sleep(50)) {
        if (child.exitCode === null && Date.now() < until) continue;
        throw new Error(
          `${child.exitCode === null ? 'Takes too long' : 'Failed'}:\n${block}\n---\n${output().slice(from)}`,
        );
      }
      return output().slice(from).replace(marker, '');
    },
    close: () => end(child),
  };
}

export function openTerminal(command: string, { directory, env }: Place): Terminal {
  const child = spawn('bash', ['-c', command], {
    cwd: directory,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { command, output: collect(child), close: () => end(child) };
}

function collect(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  return () => output;
}

/** With all that it started: each has a process group of its own. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = once(child, 'close');
  process.kill(-child.pid, 'SIGTERM');
  const group = -child.pid;
  const patience = setTimeout(() => process.kill(group, 'SIGKILL'), 10_000);
  await closed;
  clearTimeout(patience);
}
