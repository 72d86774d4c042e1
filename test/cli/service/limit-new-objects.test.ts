import { expect, test } from 'vitest';
import { limitNewObjects, type NodeProcess } from '../../../cli/limit-new-objects.ts';

/** Returns the command by which the process replaces itself, `undefined` if it stays. */
function replacement(given: Partial<NodeProcess>): string | undefined {
  let command: string | undefined;
  const execve = ((file: string, args: string[]) => {
    command = [file, ...args.slice(1)].join(' ');
  }) as unknown as NonNullable<NodeProcess['execve']>;
  limitNewObjects({
    execPath: 'node',
    execArgv: [],
    argv: ['node', 'cli/watchpost.ts', 'start', '--port', '0'],
    env: {},
    execve,
    ...given,
  });
  return command;
}

test('a start without the limit replaces its process, with all of its options', () => {
  expect(replacement({})).toBe('node --max-semi-space-size=8 cli/watchpost.ts start --port 0');
  expect(replacement({ execArgv: ['--inspect'], env: { NODE_OPTIONS: '--no-warnings' } })).toBe(
    'node --max-semi-space-size=8 --inspect cli/watchpost.ts start --port 0',
  );
});

test.each([
  ['with the limit', { execArgv: ['--max-semi-space-size=8'] }],
  ['with another limit', { execArgv: ['--max_semi_space_size=64'] }],
  ['with a limit in the environment', { env: { NODE_OPTIONS: '--max-semi-space-size=16' } }],
  ['on a system that cannot replace a process', { execve: undefined as never }],
  ['as the child of a Node process with a channel', { send: (() => true) as never }],
])('a start %s keeps its process', (_, given) => {
  expect(replacement(given)).toBeUndefined();
});
