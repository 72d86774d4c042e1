import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';

/** Starts the service as a user does, with wrong settings of the model. */
function start(...args: string[]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'watchpost-banner-'));
  const child = spawn(
    process.execPath,
    ['cli/watchpost.ts', 'start', '--port', '0', '--data-dir', dataDir, ...args],
    // Output that is not a terminal has no colors, in CI too.
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, CI: 'true', FORCE_COLOR: '1' } },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await once(child, 'close');
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { output: () => output, pid: child.pid };
}

test('a start with an unreachable model says so in banner, log and /healthz, and serves', async () => {
  const { output, pid } = start(
    '--vision',
    'openai',
    '--vision-model',
    'llava',
    '--openai-url',
    'http://127.0.0.1:1/v1',
  );
  await vi.waitFor(() => expect(output()).toContain('try       curl'), { timeout: 20_000 });

  expect(output()).toMatch(
    / {2}model {5}FAILED openai, llava: does not answer.*\n.*Check that it is running/,
  );
  expect(output()).toMatch(/"level":"WARNING","message":"Model tested: openai, llava: does not answer"/);
  // The process has replaced itself by one with the limit of new objects.
  if (existsSync('/proc/self/cmdline'))
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('--max-semi-space-size=8\0');
  const origin = /serves on (http:\S+)\/api/.exec(output())?.[1];
  const response = await fetch(`${origin}/healthz?deep`);
  expect(response.status).toBe(200);
  const { status, checks } = (await response.json()) as any;
  expect(status).toBe('failed');
  expect(checks.map(({ check }: { check: string }) => check)).toEqual([
    'model',
    'ffmpeg',
    'guard',
    'disk',
    'media',
    'clock',
    'ports',
    'load',
    'watches',
  ]);
});
