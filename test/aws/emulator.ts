import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installPython } from '../support/python/python-tool.ts';

/** MiniStack (MIT, PyPI), an independent emulator that runs Node functions without Docker. */
export const emulatorPackage = 'ministack';

export type Emulator = {
  endpoint: string;
  port: number;
  /** File with a line for each request of a function. */
  requestsFile: string;
  /** Environment variables for the AWS SDK and the CDK CLI. */
  environment: Record<string, string>;
  stop(): Promise<void>;
};

/** Starts the emulator on loopback. Throws if it does not respond. */
export async function startEmulator(directory: string): Promise<Emulator> {
  const python = join(await installPython(emulatorPackage), 'bin/python');
  const port = await freePort();
  const temporary = join(directory, 'emulator');
  mkdirSync(temporary, { recursive: true });
  const requestsFile = join(directory, 'requests.jsonl');
  const child = spawn(python, ['-m', 'hypercorn', 'emulator_app:app', '--bind', `127.0.0.1:${port}`], {
    cwd: temporary,
    env: {
      ...process.env,
      PYTHONPATH: import.meta.dirname,
      PYTHONDONTWRITEBYTECODE: '1',
      GATEWAY_PORT: String(port),
      REQUESTS_FILE: requestsFile,
      MINISTACK_HOST: 'localhost',
      LAMBDA_EXECUTOR: 'local',
      TMPDIR: temporary,
      // The emulator runs functions with the `node` in the PATH: the version of the npm scripts, as on Lambda.
      PATH: `${resolve('node_modules/.bin')}:${process.env['PATH']}`,
      // The Lambda image has the SDK, which the function of the smoke test requires.
      NODE_PATH: resolve('node_modules'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const log = createWriteStream(join(directory, 'emulator.log'));
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const endpoint = `http://localhost:${port}`;
  const stop = async () => {
    if (child.exitCode !== null || child.pid === undefined) return;
    // Functions are child processes of the emulator.
    process.kill(-child.pid, 'SIGKILL');
    await once(child, 'close');
  };
  for (let waited = 0; !(await answers(endpoint)); waited += 1) {
    if (child.exitCode !== null || waited > 300) {
      await stop();
      throw new Error(`The emulator did not start; see ${join(directory, 'emulator.log')}`);
    }
    await sleep(200);
  }
  return {
    endpoint,
    port,
    requestsFile,
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      CDK_DISABLE_CLI_TELEMETRY: '1',
    },
    stop,
  };
}

async function answers(endpoint: string): Promise<boolean> {
  return fetch(`${endpoint}/_ministack/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
