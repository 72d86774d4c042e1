import { once } from 'node:events';
import { dirname, join, resolve } from 'node:path';
import { createClient, type Alert } from '../../client/index.ts';
import { consoleFiles } from '../../adapters/embedded/web/console-files.ts';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { consoleCaching, consoleSecurityHeaders } from '../../console/security-headers.ts';
import { readCredentials } from '../credentials.ts';
import { CommandError } from '../command-error.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import { readExampleMedia } from '../evaluate/example-media.ts';
import { findSetFile } from '../evaluate/read-set.ts';
import { openSetWriter, type NewExample } from '../evaluate/set-writer.ts';
import { listen } from '../service/http-server.ts';
import { createLabelApp, openSetFile } from '../label/label-app.ts';
import { addSettings, type Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { openTemporaryFolder } from '../temporary-folder.ts';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { between, parseSettings } from '../parse-options.ts';

type ReviewedAlertsDeps = {
  listAlerts: (query: { after?: string; limit: number }) => Promise<{
    alerts: Pick<Alert, 'alert_id' | 'condition' | 'explanation' | 'review' | 'frame_url' | 'watch_name'>[];
    next_after: string | null;
  }>;
  alertFrame: (alertId: string) => Promise<Uint8Array>;
  add: (example: NewExample) => Promise<boolean>;
};

const pageSize = 100;

/**
 * Adds the reviewed alerts that have evidence to a set: `yes` if the alert was right, else `no`. Returns how many were
 * new.
 */
export async function addReviewedAlerts({
  listAlerts,
  alertFrame,
  add,
}: ReviewedAlertsDeps): Promise<number> {
  let added = 0;
  let after: string | null | undefined;
  do {
    const page = await listAlerts({ limit: pageSize, ...(after ? { after } : {}) });
    for (const alert of page.alerts) {
      if (!alert.review || alert.frame_url === null) continue;
      const isNew = await add({
        id: `${alert.watch_name}, alert ${alert.alert_id}`,
        condition: alert.condition,
        expected: alert.review.correct ? 'yes' : 'no',
        frame: await alertFrame(alert.alert_id),
        verdict: { triggered: true, explanation: alert.explanation },
        ...(alert.review.note === '' ? {} : { note: alert.review.note }),
      });
      if (isNew) added += 1;
    }
    after = page.next_after;
  } while (after !== null);
  return added;
}

const labelOptions = z.object({
  labelPort: z.number(),
  alerts: z.boolean().default(false),
  baseUrl: z.string().optional(),
  key: z.string().optional(),
});

export function addLabel(program: Command, terminal: Terminal): void {
  addSettings(program.command('label <set>'), ['ffmpeg', 'dataDir'])
    .description('label a set with the keyboard, on a page that only this machine can open')
    .addOption(
      new Option('--label-port <port>', 'port of the page; 0: a free one')
        .default(8799)
        .argParser(between(0, 65_535)),
    )
    .option('--alerts', 'first add the reviewed alerts of the service')
    .option('--base-url <url>', 'base URL of the service of --alerts; default: that of the data directory')
    .addOption(new Option('--key <key>', 'key for --base-url').env('WATCHPOST_KEY'))
    .action(async (set: string, raw: unknown) => {
      const { labelPort: port, ...rest } = labelOptions.parse(raw);
      const options = { set, port, alerts: rest.alerts, baseUrl: rest.baseUrl, key: rest.key };
      await label(options, parseSettings(raw), terminal);
    });
}

/**
 * Arguments of `watchpost label`. `alerts` adds the reviewed alerts of a service: that of the data directory, or of
 * `baseUrl` and `key`.
 */
export type LabelOptions = {
  set: string;
  port: number;
  alerts: boolean;
  baseUrl: string | undefined;
  key: string | undefined;
};

/** Serves a page on loopback that labels a set with the keyboard, until SIGTERM or SIGINT (`watchpost label SET`). */
export async function label(options: LabelOptions, settings: Settings, terminal: Terminal): Promise<void> {
  if (options.alerts) await addAlerts(options, settings, terminal);
  const file = await findSetFile(resolve(options.set));
  const set = openSetFile(file);
  const { examples, problems } = await set.read();
  for (const { line, message } of problems.slice(0, 5)) terminal.note(`Line ${line} is left out: ${message}`);
  if (problems.length > 5) terminal.note(`and ${problems.length - 5} more lines`);
  if (examples.length === 0)
    throw new CommandError(`${file} has no examples.`, 'Write a set with watchpost replay FILE --save-set.');
  const ffmpeg = await ensureFfmpeg(settings.ffmpeg, process.env, terminal);
  using folder = openTemporaryFolder('watchpost-label-');
  const runner = createFfmpegRunner({ ffmpegPath: ffmpeg.path, tempDir: folder.path });
  const { signal } = new AbortController();
  const media = { mode: 'frames', clipSeconds: 1 } as const;
  const app = createLabelApp({
    set,
    name: options.set,
    readFrame: async (example) =>
      (await readExampleMedia(example, dirname(file), media, runner, signal)).frame,
    files: consoleFiles({
      folder: join(import.meta.dirname, '../../console/dist'),
      page: 'label.html',
      headers: consoleSecurityHeaders,
      caching: consoleCaching,
    }),
  });
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  const server = await listen('127.0.0.1', options.port);
  server.serve((request) => app.fetch(request));
  const left = examples.filter(({ expected }) => expected === null).length;
  terminal.print(`Label ${examples.length} examples (${left} left): http://127.0.0.1:${server.port}/console`);
  terminal.print(
    'Keys: y yes, n no, u unclear, z undo. Each label is saved immediately. Press Ctrl+C to stop.',
  );
  await stopped;
  await server.close();
}

async function addAlerts({ set, baseUrl, key }: LabelOptions, settings: Settings, terminal: Terminal) {
  const here = baseUrl === undefined ? await readCredentials(settings.dataDir) : undefined;
  const [url, apiKey] = here ? [here.base_url, here.api_key] : [baseUrl, key];
  if (url === undefined || apiKey === undefined)
    throw new CommandError(
      'No service for --alerts.',
      'Name the data directory with --data-dir, or a running service with --base-url URL and --key KEY.',
    );
  const client = createClient({ baseUrl: url, apiKey });
  try {
    const added = await addReviewedAlerts({
      listAlerts: async (query) => client.listAlerts(query),
      alertFrame: async (alertId) => client.alertFrame(alertId),
      add: await openSetWriter(resolve(set)),
    });
    terminal.note(`${added} reviewed alerts added`);
  } catch (cause) {
    throw new CommandError(
      `The alerts of ${url} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      'Check that the service runs, and that the key has the scope read or jobs.',
      { cause },
    );
  }
}
