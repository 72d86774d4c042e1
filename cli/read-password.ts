import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from './command-error.ts';

/** Variable with the password of a camera. */
export const passwordVariable = 'WATCHPOST_CAMERA_PASSWORD';

/**
 * Reads a password from the variable, from the terminal without showing it, or from the first line of standard input. It is no argument of the
 * command: other users of the machine can read those. Throws `CommandError` without one.
 */
export async function readPassword(env: NodeJS.ProcessEnv): Promise<string> {
  const { stdin, stderr } = process;
  const password =
    env[passwordVariable] ?? (stdin.isTTY ? await askHidden(stdin, stderr) : await readLine(stdin));
  if (password !== '') return password;
  throw new CommandError(
    'The password is missing',
    `Enter it, pass it as the first line of standard input, or set ${passwordVariable}.`,
  );
}

async function askHidden(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<string> {
  output.write('Password of the camera: ');
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true });
  try {
    return await lines.question('');
  } catch (error) {
    // Ctrl+C and Ctrl+D enter nothing.
    if (error instanceof Error && error.name === 'AbortError') return '';
    throw error;
  } finally {
    lines.close();
    output.write('\n');
  }
}

async function readLine(input: NodeJS.ReadStream): Promise<string> {
  for await (const line of createInterface({ input })) return line;
  return '';
}
