import { Command } from 'commander';
import pc from 'picocolors';
import { formatError, toExitCode } from '../../cli/exit.ts';
import type { Terminal } from '../../cli/terminal.ts';

/**
 * Runs a command in this process, as `cli/watchpost.ts` runs it in one of its own: a process loads its modules for half
 * a second. Rejects like `execFile` if the command fails. Settings are options, or the environment of the test.
 */
export async function runCommand(
  add: (program: Command, terminal: Terminal) => void,
  ...args: string[]
): Promise<{ stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const terminal: Terminal = {
    print: (line) => void (written.stdout += `${line}\n`),
    note: (line) => void (written.stderr += `${line}\n`),
    waiting: (text) => {
      terminal.note(text);
      return { update: () => undefined, done: () => undefined };
    },
    confirm: async () => false,
    color: pc.createColors(false),
    isTerminal: false,
  };
  const output = {
    writeOut: (text: string) => void (written.stdout += text),
    writeErr: (text: string) => void (written.stderr += text),
  };
  const program = new Command('watchpost').exitOverride().configureOutput(output);
  const before = process.exitCode;
  process.exitCode = undefined;
  let code: number;
  try {
    add(program, terminal);
    await program.parseAsync(args, { from: 'user' });
    code = readExitCode();
  } catch (error) {
    for (const line of formatError(error)) terminal.note(line);
    code = toExitCode(error);
  }
  process.exitCode = before;
  if (code !== 0) throw Object.assign(new Error(written.stderr), { code, ...written });
  return written;
}

function readExitCode(): number {
  return Number(process.exitCode ?? 0);
}
