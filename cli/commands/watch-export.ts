import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { addService, openService } from '../target/target-options.ts';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WatchpostError, type Alert, type Watchpost } from '../../client/index.ts';
import { CommandError } from '../command-error.ts';
import type { Terminal } from '../terminal.ts';
import { findWatch } from '../watches/find-watch.ts';

const exportOptions = z.object({
  watch: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
});

/** Adds `watchpost watch export`. */
export function addExport(watch: Command, terminal: Terminal): void {
  addService(
    watch
      .command('export')
      .argument('<folder>', 'folder of the set')
      .description('write reviewed alerts as a labelled set, which watchpost evaluate reads'),
  )
    .option('--watch <watch>', 'name or id; default: all watches')
    .addOption(new Option('--from <time>', 'open at this time or later (ISO 8601)').argParser(parseTime))
    .addOption(new Option('--to <time>', 'opened before this time (ISO 8601)').argParser(parseTime))
    .action(async (folder: string, raw: unknown) => {
      const { watch: which, from, to } = exportOptions.parse(raw);
      await exportReviews(await openService(raw), { folder, watch: which, from, to }, terminal);
    });
}

/** Parses a time, also a date alone. Throws `InvalidArgumentError`. */
export function parseTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('Use a time such as 2026-11-01T12:00:00Z.');
  return time.toISOString();
}

/** Arguments of `watchpost watch export`. Times as ISO 8601. */
export type ExportOptions = {
  folder: string;
  watch: string | undefined;
  from: string | undefined;
  to: string | undefined;
};

/**
 * Writes reviewed alerts as a labelled set: `set.jsonl` and their frames in `frames/`. An export into the same folder
 * replaces the examples that it has again and keeps the others, whose evidence may have expired since.
 */
export async function exportReviews(
  client: Watchpost,
  { folder, watch, from, to }: ExportOptions,
  terminal: Terminal,
): Promise<void> {
  const watchId = watch === undefined ? undefined : (await findWatch(watch, client)).watch_id;
  const reviewed = await listReviewed(client, { watch_id: watchId, from, to });
  await mkdir(join(folder, 'frames'), { recursive: true });
  const lines = new Map<string, string>();
  let withoutFrame = 0;
  for (const { alert, review } of reviewed) {
    const frame = await readFrame(alert.alert_id, client);
    if (frame === undefined) withoutFrame += 1;
    else {
      const picture = `frames/${alert.alert_id}.jpg`;
      await writeFile(join(folder, picture), frame);
      lines.set(alert.alert_id, JSON.stringify(toExample(alert, review, picture)));
    }
  }
  const kept = await readOtherLines(join(folder, 'set.jsonl'), lines);
  await writeWhole(join(folder, 'set.jsonl'), [...kept, ...lines.values()]);
  terminal.print(`${lines.size} reviewed alerts in ${join(folder, 'set.jsonl')}`);
  if (kept.length > 0) terminal.note(`${kept.length} earlier examples of that file were kept.`);
  if (withoutFrame > 0)
    terminal.note(`${withoutFrame} reviewed alerts have no frame any more; they were left out.`);
  if (reviewed.length === 0)
    terminal.note('No alert is reviewed yet: mark alerts as right or wrong in the console first.');
}

type Review = NonNullable<Alert['review']>;

async function listReviewed(
  client: Watchpost,
  filter: { watch_id: string | undefined; from: string | undefined; to: string | undefined },
): Promise<{ alert: Alert; review: Review }[]> {
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  const reviewed: { alert: Alert; review: Review }[] = [];
  for (let after: string | undefined; ;) {
    const page = await client.listAlerts({ ...given, limit: 100, ...(after !== undefined && { after }) });
    for (const alert of page.alerts)
      if (alert.review !== null) reviewed.push({ alert, review: alert.review });
    if (page.next_after === null) return reviewed.toReversed();
    after = page.next_after;
  }
}

/** Reads the evidence of an alert. Returns undefined if none was left or it has expired. */
async function readFrame(alertId: string, client: Watchpost): Promise<Uint8Array | undefined> {
  try {
    return await client.alertFrame(alertId);
  } catch (error) {
    if (error instanceof WatchpostError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Converts a reviewed alert to a line of a labelled set (core/evaluation/labelled-set.ts). The model said yes: it
 * opened the alert.
 */
function toExample(alert: Alert, { correct, note }: Review, picture: string) {
  return {
    id: alert.alert_id,
    picture,
    condition: alert.condition,
    expected: correct ? 'yes' : 'no',
    tags: [alert.condition_id, ...alert.labels],
    ...(note !== '' && { note }),
    watch: alert.watch_name,
    verdict: { triggered: true, explanation: alert.explanation },
    opened_at: alert.opened_at,
  };
}

async function readOtherLines(file: string, lines: ReadonlyMap<string, string>): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return '';
    throw new CommandError(`${file} cannot be read`, 'Use another folder.', { cause });
  });
  return text.split('\n').filter((line) => line.trim() !== '' && !lines.has(readId(line)));
}

function readId(line: string): string {
  return /^\{"id":"([^"]*)"/.exec(line)?.[1] ?? '';
}

async function writeWhole(file: string, lines: readonly string[]): Promise<void> {
  await writeFile(`${file}.part`, lines.map((line) => `${line}\n`).join(''));
  await rename(`${file}.part`, file);
}
