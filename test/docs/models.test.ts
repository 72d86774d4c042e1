import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { addDoctor } from '../../cli/commands/doctor.ts';
import { addEvaluate } from '../../cli/commands/evaluate.ts';
import { chatServer, says } from '../adapters/vision/openai/chat-server.ts';
import { runCommand } from '../support/run-command.ts';
import { parseBlocks, parseCommands } from './snippets/blocks.ts';

const quickstarts = parseBlocks('docs/use/models.md').filter(({ text }) =>
  text.includes('export WATCHPOST_VISION=openai'),
);
/** The two commands of a quickstart, which run in this process. */
const addBoth: typeof addDoctor = (program, terminal) => {
  addDoctor(program, terminal);
  addEvaluate(program, terminal);
};
afterEach(() => vi.unstubAllEnvs());

const sees = says(JSON.stringify({ triggered: true, explanation: 'It is there.' }));

test('the page has a quickstart for Ollama, llama.cpp, vLLM and OpenRouter', () => {
  expect(quickstarts.map(({ text }) => /OPENAI_URL=(\S+)/.exec(text)?.[1])).toEqual([
    'http://127.0.0.1:11434/v1',
    'http://127.0.0.1:8080/v1',
    'http://127.0.0.1:8000/v1',
    'https://openrouter.ai/api/v1',
  ]);
});

test.each(quickstarts)(
  'the quickstart in line $line ends with a doctor that finds the model and an evaluation that passes',
  async (block) => {
    await using server = await chatServer(sees);
    const folder = mkdtempSync(join(tmpdir(), 'watchpost-quickstart-'));
    const settings = parseCommands(block).flatMap((line) => [...line.matchAll(/(WATCHPOST_\w+)=(\S+)/g)]);
    for (const [, name = '', value = ''] of settings)
      vi.stubEnv(name, name.endsWith('OPENAI_URL') ? server.baseUrl : value);
    vi.stubEnv('WATCHPOST_DATA_DIR', join(folder, 'data'));
    vi.stubEnv('WATCHPOST_PORT', '0');
    const commands = parseCommands(block)
      .filter((command) => command.startsWith('npm run watchpost -- '))
      // A whole set for each quickstart takes longer and shows nothing more.
      .map((command) => command.replace('evaluate basic', 'evaluate basic --tag color').split(' ').slice(4));
    try {
      let stdout = '';
      for (const words of commands) stdout += (await runCommand(addBoth, ...words)).stdout;
      const model = process.env['WATCHPOST_VISION_MODEL'] ?? '';
      expect(stdout).toMatch(/model.*answered a test picture/);
      expect(stdout).toContain(model);
      expect(stdout).toMatch(/100 %.*0\/11/);
      expect(server.arrived.length).toBeGreaterThan(11);
      expect(new Set(server.arrived.map(({ body }) => body.model))).toEqual(new Set([model]));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
