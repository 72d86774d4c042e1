import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseBlocks, parseTarget, type Block } from './blocks.ts';
import { missingLine } from './expected-output.ts';
import { onlyShown, reasonNotToRun } from './not-run.ts';
import { serveCommand, streamCommand, type World } from './running-world.ts';
import { openShell, openTerminal, type Terminal } from './shell.ts';

const timeoutMs = 60_000;

/**
 * Runs the blocks of a page in order: `sh` in one shell, `sh terminal` in a new one that keeps running. A block with a
 * file name is saved under it. `text` is the expected output of the block before, or of the terminal that runs the
 * named file.
 */
export async function readPage(page: string, world: World): Promise<AsyncDisposable & { folder: string }> {
  const folder = world.folderFor(page);
  const place = { directory: folder, env: world.env };
  const shell = openShell(place);
  const terminals: Terminal[] = [];
  const reader: AsyncDisposable & { folder: string } = {
    folder,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([shell, ...terminals].map((one) => one.close()));
    },
  };
  let printed: string | undefined;
  try {
    for (const block of parseBlocks(page)) await follow(block);
    return reader;
  } catch (error) {
    await reader[Symbol.asyncDispose]();
    throw error;
  }

  async function follow(block: Block): Promise<void> {
    const text = world.localized(block.text);
    if (block.language === 'sh') return type(block, text);
    if (block.language === 'text') return compare(block, text);
    if (block.language === 'json') return void JSON.parse(text);
    if (block.language === 'toml')
      return parseBy('import sys, tomllib; tomllib.load(sys.stdin.buffer)', text);
    if (block.language === 'python') parseBy('import ast, sys; ast.parse(sys.stdin.read())', text);
    if (['ts', 'python'].includes(block.language)) {
      if (block.note !== '') writeFileSync(join(folder, block.note), text);
      return;
    }
    if (!Object.hasOwn(onlyShown, block.language))
      throw new Error(`${parseTarget(block)}: no rule for a block of "${block.language}"`);
  }

  async function type(block: Block, text: string): Promise<void> {
    printed = undefined;
    if (reasonNotToRun(block) !== undefined || needsMorePython(text, world.python))
      return void execFileSync('bash', ['-n'], { input: text, stdio: ['pipe', 'ignore', 'pipe'] });
    if (block.note !== 'terminal') {
      printed = await shell.run(text);
      return;
    }
    const command = block.text.trim();
    // Already running for all pages.
    if (command === serveCommand || command === streamCommand) return;
    await shell.run('export -p > .environment');
    const terminal = openTerminal(`. ./.environment; exec ${text}`, place);
    terminals.push(terminal);
    await appears(block, () => (terminal.output() === '' ? 'anything' : undefined), terminal.output);
  }

  async function compare(block: Block, shown: string): Promise<void> {
    if (block.note === '') {
      const output = printed;
      // A block that did not run has no output to compare.
      if (output !== undefined)
        await appears(
          block,
          () => missingLine(shown, output),
          () => output,
          0,
        );
      return;
    }
    const terminal = terminals.find(({ command }) => command.includes(block.note));
    if (terminal === undefined && !world.python.receivers && block.note.endsWith('.py')) return;
    const output = () => terminal?.output() ?? `no terminal of ${block.note}`;
    await appears(block, () => missingLine(shown, output()), output);
  }
}

async function appears(
  block: Block,
  missing: () => string | undefined,
  output: () => string,
  waitMs = timeoutMs,
): Promise<void> {
  for (const until = Date.now() + waitMs; missing() !== undefined; await sleep(100)) {
    if (Date.now() >= until)
      throw new Error(`${parseTarget(block)}: "${missing()}" is not in\n${output().slice(0, 4000)}`);
  }
}

function needsMorePython(text: string, { present, receivers }: World['python']): boolean {
  return (!present && text.includes('python3')) || (!receivers && text.includes('.venv/bin/'));
}

function parseBy(program: string, input: string): void {
  execFileSync('python3', ['-c', program], { input, stdio: ['pipe', 'ignore', 'pipe'] });
}
