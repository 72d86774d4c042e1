import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { addService, openService } from '../target/target-options.ts';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WatchpostError, type Watchpost } from '../../client/index.ts';
import { CommandError } from '../command-error.ts';
import type { Terminal } from '../terminal.ts';
import { findWatch } from '../watches/find-watch.ts';

const exportOptions = z.object({
  watch: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
});

export function addExport(watch: Command, terminal: Terminal): void {
  addService(
    watch
      .command('export')
      .argument('<folder>', 'folder of the set')
      .description('write reviewed alerts and moments as a labelled set, which watchpost evaluate reads'),
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
 * Writes reviewed alerts and moments as a labelled set: `set.jsonl` and their frames in `frames/`. An export into the
 * same folder replaces the examples that it has again and keeps the others, whose pictures may have expired since.
 */
export async function exportReviews(
  client: Watchpost,
  { folder, watch, from, to }: ExportOptions,
  terminal: Terminal,
): Promise<void> {
  const watchId = watch === undefined ? undefined : (await findWatch(watch, client)).watch_id;
  const filter = Object.fromEntries(
    Object.entries({ watch_id: watchId, from, to }).filter(([, value]) => value !== undefined),
  );
  const reviewed = [...(await listAlerts(client, filter)), ...(await listMoments(client, filter))];
  await mkdir(join(folder, 'frames'), { recursive: true });
  const lines = new Map<string, string>();
  let withoutFrame = 0;
  for (const { id, read, fields } of reviewed) {
    const frame = await readFrame(read);
    if (frame === undefined) withoutFrame += 1;
    else {
      const picture = `frames/${id}.jpg`;
      await writeFile(join(folder, picture), frame);
      lines.set(id, JSON.stringify({ id, picture, ...fields }));
    }
  }
  const kept = await readOtherLines(join(folder, 'set.jsonl'), lines);
  await writeWhole(join(folder, 'set.jsonl'), [...kept, ...lines.values()]);
  terminal.print(`${lines.size} reviewed pictures in ${join(folder, 'set.jsonl')}`);
  if (kept.length > 0) terminal.note(`${kept.length} earlier examples of that file were kept.`);
  if (withoutFrame > 0)
    terminal.note(`${withoutFrame} reviews have no picture any more; they were left out.`);
  if (reviewed.length === 0)
    terminal.note(
      'Nothing is reviewed yet: mark alerts as right or wrong, and moments as missed, in the console first.',
    );
}

/** Reviewed picture: fields of its line in a labelled set (core/evaluation/labelled-set.ts). */
type Reviewed = { id: string; read: () => Promise<Uint8Array>; fields: object };
type Filter = { watch_id?: string; from?: string; to?: string };

/** Lists reviewed alerts. The model said yes: it opened the alert. */
async function listAlerts(client: Watchpost, filter: Filter): Promise<Reviewed[]> {
  const list = (after: object) => client.listAlerts({ ...filter, limit: 100, ...after });
  const alerts = await readPages(list, (page) => page.alerts);
  return alerts.flatMap(({ review, ...alert }) =>
    review === null
      ? []
      : {
          id: alert.alert_id,
          read: () => client.alertFrame(alert.alert_id),
          fields: {
            condition: alert.condition,
            expected: review.correct ? 'yes' : 'no',
            tags: [alert.condition_id, ...alert.labels],
            ...(review.note !== '' && { note: review.note }),
            watch: alert.watch_name,
            verdict: { triggered: true, explanation: alert.explanation },
            opened_at: alert.opened_at,
          },
        },
  );
}

/** Lists reviewed moments, one entry a condition. */
async function listMoments(client: Watchpost, filter: Filter): Promise<Reviewed[]> {
  const list = (after: object) => client.listMoments({ ...filter, reviewed: true, limit: 100, ...after });
  const moments = await readPages(list, (page) => page.moments);
  return moments.flatMap(({ reviews = [], moment_id: momentId, verdicts, at }) =>
    reviews.map(({ condition_id: id, condition, holds, missed }) => {
      const { triggered, explanation } = verdicts.find(({ condition_id: other }) => other === id) ?? {};
      return {
        id: `${momentId}-${id}`,
        read: () => client.momentPicture(momentId),
        fields: {
          condition,
          expected: holds ? 'yes' : 'no',
          tags: [id, ...(missed ? ['missed'] : [])],
          ...(typeof triggered === 'boolean' && { verdict: { triggered, explanation } }),
          at,
        },
      };
    }),
  );
}

/** Reads all pages of a list, and returns its entries, oldest first. */
async function readPages<Page extends { next_after: string | null }, Entry>(
  list: (after: { after?: string }) => Promise<Page>,
  read: (page: Page) => readonly Entry[],
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let after: { after?: string } = {}; ;) {
    const page = await list(after);
    entries.push(...read(page));
    if (page.next_after === null) return entries.toReversed();
    after = { after: page.next_after };
  }
}

/** Reads a picture. Returns undefined if none was left or it has expired. */
async function readFrame(read: () => Promise<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof WatchpostError && error.status === 404) return undefined;
    throw error;
  }
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
