import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { chatServer, says } from '../adapters/vision/openai/chat-server.ts';
import { parseBlocks, parseCommands } from './snippets/blocks.ts';

const quickstarts = parseBlocks('docs/use/choosing-a-model.md').filter(({ text }) =>
  text.includes('export WATCHPOST_VISION=openai'),
);
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
    const commands = parseCommands(block).filter((command) => /^(export|npm run watchpost)/.test(command));
    const script = commands
      .join('\n')
      .replace(/(OPENAI_URL=)\S+/, `$1${server.baseUrl}`)
      .replaceAll('npm run watchpost --', 'node cli/watchpost.ts')
      // A whole set for each quickstart takes longer and shows nothing more.
      .replace('evaluate basic', 'evaluate basic --tag color');
    const env = { ...process.env, WATCHPOST_DATA_DIR: join(folder, 'data'), WATCHPOST_PORT: '0' };
    try {
      const { stdout } = await promisify(execFile)('bash', ['-ec', script], { env, timeout: 60_000 });
      const model = /VISION_MODEL=(\S+)/.exec(script)?.[1] ?? '';
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
