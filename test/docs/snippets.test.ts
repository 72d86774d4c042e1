import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pages, parseTarget, typescriptBlocks } from './snippets/blocks.ts';
import { readPage } from './snippets/read-page.ts';
import { installPython } from '../support/python/python-tool.ts';
import { openWorld, type World } from './snippets/running-world.ts';

/** Runs or compiles every fenced block of the documentation, except those in `snippets/not-run.ts`. */

const run = promisify(execFile);
let world: World;

beforeAll(async () => {
  // The client for Python of the quickstart: its installation counts for no block. Without Python that block says so.
  const generator = installPython('openapi-python-client').catch(() => undefined);
  world = await openWorld();
  await generator;
}, 300_000);

afterAll(() => world?.close());

/** Additional checks by page. */
const further: Record<string, (folder: string) => Promise<void>> = {
  'docs/use/quickstart.md': receiversVerifySignatures,
};

describe('fenced blocks of the documentation', () => {
  test.concurrent.each(pages)(
    'the blocks of %s run and print the documented output',
    { timeout: 240_000 },
    async (page) => {
      await using reader = await readPage(page, world);
      await further[page]?.(reader.folder);
    },
  );
});

async function receiversVerifySignatures(): Promise<void> {
  const further = world.python.receivers ? [9002] : [];
  for (const documented of [9001, ...further]) {
    const webhook_url = `http://127.0.0.1:${world.port(documented)}/`;
    const tested = await fetch(`${world.baseUrl}/webhook-test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ webhook_url }),
    });
    expect(await tested.json(), `the receiver of port ${documented}`).toMatchObject({ status: 204 });
    const forged = await fetch(webhook_url, {
      method: 'POST',
      headers: {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
      },
      body: '{"type":"watch_triggered","data":{}}',
    });
    expect(forged.status, `the receiver of port ${documented}`).toBe(400);
  }
}

test('TypeScript blocks of the documentation about the client compile strictly', async () => {
  mkdirSync('.cache/docs', { recursive: true });
  const folder = mkdtempSync(resolve('.cache/docs/types-'));
  try {
    for (const block of typescriptBlocks.get('client') ?? [])
      writeFileSync(join(folder, `${parseTarget(block).replaceAll(/\W/g, '-')}.ts`), block.text);
    const compilerOptions = { noPropertyAccessFromIndexSignature: false };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: resolve('tsconfig.json'), compilerOptions, include: ['*.ts'] }),
    );
    await run(resolve('node_modules/.bin/tsc'), ['-p', folder]).catch((error: { stdout: string }) => {
      throw new Error(error.stdout);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
