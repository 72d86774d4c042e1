import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Running service process. */
export type ServiceProcess = {
  pid: number;
  baseUrl: string;
  apiKey: string;
  internalKey: string;
  webhookSecret: string;
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  output(): string;
};

/** Starts `watchpost start` as a process. It is ready when its credentials file contains its pid. */
export async function startService(
  dataDir: string,
  variables: Record<string, string> = {},
  maxStartSeconds = 30,
  flags: readonly string[] = [],
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--max-semi-space-size=8', 'cli/watchpost.ts', 'start', ...flags], {
    env: {
      ...process.env,
      WATCHPOST_PORT: '0',
      WATCHPOST_VISION: 'pixel',
      WATCHPOST_DATA_DIR: dataDir,
      WATCHPOST_ALLOW_RANGES: '127.0.0.0/8',
      WATCHPOST_ALLOW_WEBHOOK_RANGES: '127.0.0.0/8',
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const file = join(dataDir, 'watchpost.json');
  const ready = () => existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).pid === child.pid;
  for (let waited = 0; !ready(); waited += 1) {
    if (child.exitCode !== null || waited > maxStartSeconds * 20) {
      child.kill('SIGKILL');
      throw new Error(`The service did not start:\n${output}`);
    }
    await sleep(50);
  }
  const credentials = JSON.parse(readFileSync(file, 'utf8'));
  return {
    pid: credentials.pid,
    baseUrl: credentials.base_url,
    apiKey: credentials.api_key,
    internalKey: credentials.internal_api_key,
    webhookSecret: credentials.webhook_secret,
    call: async (method, path, body) => {
      const response = await fetch(`${credentials.base_url}${path}`, {
        method,
        headers: { authorization: `Bearer ${credentials.api_key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
    kill: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill(signal);
      await once(child, 'close');
      return child.exitCode;
    },
    output: () => output,
  };
}
