import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Shell session: variables of one block are available in the next. */
export type Shell = {
  /** Runs a block and returns its output. Throws if a command fails. */
  run(block: string): Promise<string>;
  close(): Promise<void>;
};

/** Terminal with a running command. */
export type Terminal = { command: string; output(): string; close(): Promise<void> };

type Place = { directory: string; env: NodeJS.ProcessEnv };

const timeoutMs = 90_000;

/** Shell options that fail a block for errors that a reader would notice, such as an HTTP error. */
const prelude = 'exec 2>&1\nset -eo pipefail\ncurl() { command curl --fail-with-body "$@"; }\n';

/** Opens a shell session. */
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
      for (const until = Date.now() + timeoutMs; !output().includes(marker); await sleep(50)) {
        if (child.exitCode === null && Date.now() < until) continue;
        throw new Error(
          `${child.exitCode === null ? 'Timeout' : 'Failed'}:\n${block}\n---\n${output().slice(from)}`,
        );
      }
      return output().slice(from).replace(marker, '');
    },
    close: () => end(child),
  };
}

/** Starts a command in a terminal. */
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

/** Ends the process group of a process, with its children. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = once(child, 'close');
  process.kill(-child.pid, 'SIGTERM');
  const group = -child.pid;
  const killTimer = setTimeout(() => process.kill(group, 'SIGKILL'), 10_000);
  await closed;
  clearTimeout(killTimer);
}
