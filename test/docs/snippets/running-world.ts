import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { preparePython, type Python } from './python.ts';
import { openTerminal, type Terminal } from './shell.ts';
import { sceneArguments } from '../../../cli/demo/scene.ts';
import { freePort } from '../../support/servers/free-port.ts';
import { loopSeconds, startLoop, type LoopedStream } from '../../support/hls/looped-stream.ts';

export const serveCommand = 'npm start -- --allow-ranges 127.0.0.0/8 --allow-webhook-ranges 127.0.0.0/8';
export const streamCommand = 'npm run stream';

/** Service and stream for all pages on free ports. Both are started with the documented commands. */
export type World = {
  baseUrl: string;
  apiKey: string;
  internalKey: string;
  dataDir: string;
  /** Ended job that replaces JOB_ID in pages. */
  jobId: string;
  env: NodeJS.ProcessEnv;
  python: Python;
  /** Creates a folder in the checkout for a page, so that `watchpost/client` resolves. */
  folderFor(page: string): string;
  /** Replaces ports, folders and ids in the text of a page. */
  localized(text: string): string;
  port(documented: number): number;
  close(): Promise<void>;
};

/**
 * Scene of `npm run stream`. Its sign has arrived by half of a loop, so that it is in one of two checks that are half a
 * loop apart.
 */
const yard = sceneArguments({
  signAfterSeconds: loopSeconds / 2 - 1,
  roundSeconds: loopSeconds,
  startsAt: new Date(0),
}).filter((word) => word !== '-re');

const documentedPorts = [9000, 9001, 9002];

export async function openWorld(): Promise<World> {
  const python = preparePython();
  const cache = resolve('.cache/docs');
  mkdirSync(cache, { recursive: true });
  const root = mkdtempSync(join(cache, 'run-'));
  const dataDir = join(root, '.watchpost');
  const env = {
    ...process.env,
    ...python.env,
    WATCHPOST_PORT: '0',
    WATCHPOST_DATA_DIR: dataDir,
    WATCHPOST_JOBS_PER_CALLER: '50',
    npm_config_update_notifier: 'false',
    NO_COLOR: '1',
  };
  const ports = new Map(
    await Promise.all(documentedPorts.map(async (port) => [port, await freePort()] as const)),
  );
  const place = { directory: root, env };
  const service = openTerminal(serveCommand, place);
  const drawn = openTerminal(`${streamCommand} -- --port ${ports.get(9000)}`, place);
  let stream: LoopedStream | undefined;
  const close = async () => {
    await Promise.all([service.close(), drawn.close(), stream?.close()]);
    rmSync(root, { recursive: true, force: true });
  };
  try {
    const credentials = await ready(dataDir, [service, drawn]);
    // Its drawing is a fifth of a core: the rest of the test sees a recording of the same scene.
    await drawn.close();
    stream = await startLoop(yard, { port: ports.get(9000) ?? 0 });
    const origin = new URL(credentials.base_url);
    ports.set(8787, Number(origin.port));
    const streamUrl = `http://127.0.0.1:${ports.get(9000)}/live.m3u8`;
    const jobId = await finishedJob(credentials, streamUrl);
    return {
      baseUrl: credentials.base_url,
      apiKey: credentials.api_key,
      internalKey: credentials.internal_api_key,
      dataDir,
      jobId,
      python,
      env: { ...env, KEY: credentials.api_key },
      folderFor: (page) => {
        // A second try of a page has a folder of its own.
        const folder = mkdtempSync(join(root, `${page.replaceAll(/\W/g, '-')}-`));
        symlinkSync(dataDir, join(folder, '.watchpost'));
        // Output of npm scripts is in the checkout.
        symlinkSync(resolve('dist'), join(folder, 'dist'));
        return folder;
      },
      localized: (text) =>
        text
          .replaceAll(/\b(8787|900[0-5])\b/g, (port) => String(ports.get(Number(port))))
          .replaceAll('/var/lib/watchpost', dataDir)
          .replaceAll('/var/backups/watchpost', join(root, 'backups'))
          .replaceAll(/(?<![$\w{])JOB_ID(?![\w=])/g, jobId),
      port: (documented) => ports.get(documented) ?? 0,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Credentials = { base_url: string; api_key: string; internal_api_key: string };

async function ready(dataDir: string, terminals: Terminal[]): Promise<Credentials> {
  const file = join(dataDir, 'watchpost.json');
  for (let waited = 0; waited < 600; waited += 1) {
    if (existsSync(file) && terminals[1]?.output().includes('live.m3u8'))
      return JSON.parse(readFileSync(file, 'utf8'));
    await sleep(100);
  }
  throw new Error(
    `Service or stream did not start:\n${terminals.map((terminal) => terminal.output()).join('\n')}`,
  );
}

async function finishedJob({ base_url, api_key }: Credentials, stream_url: string): Promise<string> {
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ stream_url, condition: 'It is entirely pink', input_mode: 'frames' });
  const made = await fetch(`${base_url}/live-monitor`, { method: 'POST', headers, body });
  const { job_id } = (await made.json()) as { job_id: string };
  await fetch(`${base_url}/jobs/${job_id}`, { method: 'DELETE', headers });
  return job_id;
}
