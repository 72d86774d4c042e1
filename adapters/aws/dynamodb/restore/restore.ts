import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { z } from 'zod';
import { StorageError } from '../../../../core/errors.ts';
import { apiKeySchema, isRevoked } from '../../../../core/records/key.ts';
import { isTerminal, type Job } from '../../../../core/records/job.ts';
import { isJob } from '../../../../core/records/run.ts';
import type { WatchRun } from '../../../../core/records/watch-run.ts';
import { rules } from '../../../../core/rules.ts';
import { addSeconds } from '../../../../core/time.ts';
import { systemBackoff } from '../../../retry-with-backoff.ts';
import { itemKeys } from '../table/keys.ts';
import { openTable } from '../table/open-table.ts';
import { readItem } from '../table/record.ts';
import { readRunItems } from '../runs/run-item.ts';
import { keyPrefixes } from '../table/table-layout.ts';
import type { Table } from '../table/table.ts';
import type { Item, ItemKey, Write } from '../table/write.ts';
import { restoreRunItem } from './restored-items.ts';
import { readHead, routeItem, type Chosen } from './route-item.ts';

/** Restore of a table from a backup into the live one. Both have the layout of this release. */
export type RestoreDeps = {
  client: DynamoDBClient;
  /** Table that AWS restored from a backup. It is only read. */
  fromTable: string;
  /** Live table. An item that it has is never changed, except for lists of ids. */
  toTable: string;
  now: () => Date;
};

type Kind = 'job' | 'watch' | 'key';

/** Job, watch or key that the live table lacks and receives. */
export type RestoredEntity = {
  kind: Kind;
  id: string;
  caller: string;
  /** Condition or name, for the operator. */
  title: string;
  /** True for what becomes active: an active job, a watch that is not paused, a valid key. */
  continues: boolean;
  sourceId?: string;
};

/** Numbers of one kind. `over` is what had ended or expired, and is not restored. */
export type KindCounts = { add: number; present: number; over: number; excluded: number };

/** Changes that a restore makes. */
export type RestorePlan = {
  entities: RestoredEntity[];
  /** Callers that the live table lacks. */
  callers: string[];
  counts: Record<Kind | 'caller', KindCounts>;
  chosen: Chosen;
};

const writesAtOnce = 25;

/** Reads both tables and returns what a restore adds. `except` has callers and ids of jobs, watches and keys. Changes nothing. */
export async function planRestore(deps: RestoreDeps, except: ReadonlySet<string>): Promise<RestorePlan> {
  const now = deps.now();
  const live = openLive(deps, deps.toTable);
  const found = await readEntities(deps, now);
  const counts = { job: zero(), watch: zero(), key: zero(), caller: zero() };
  const wanted: RestoredEntity[] = [];
  for (const { entity, isOver } of found.entities) {
    if (isOver) counts[entity.kind].over += 1;
    else if (except.has(entity.id) || except.has(entity.caller)) counts[entity.kind].excluded += 1;
    else wanted.push(entity);
  }
  const present = await readPresent(live, [
    ...wanted.map(toHeadKey),
    ...found.callers.map((caller) => itemKeys.caller(caller)),
  ]);
  const entities: RestoredEntity[] = [];
  for (const entity of wanted)
    if (present.has(toText(toHeadKey(entity)))) counts[entity.kind].present += 1;
    else entities.push(entity);
  const callers: string[] = [];
  for (const caller of found.callers)
    if (except.has(caller)) counts.caller.excluded += 1;
    else if (present.has(toText(itemKeys.caller(caller)))) counts.caller.present += 1;
    else callers.push(caller);
  for (const { kind } of entities) counts[kind].add += 1;
  counts.caller.add = callers.length;
  const listIds = (isKey: boolean) =>
    entities.filter(({ kind }) => (kind === 'key') === isKey).map(({ id }) => id);
  const chosen: Chosen = {
    runs: new Set(listIds(false)),
    keys: new Set(listIds(true)),
    sources: new Set(entities.flatMap(({ sourceId }) => sourceId ?? [])),
    exceptCallers: except,
  };
  return { entities, callers, counts, chosen };
}

/**
 * Adds what the plan names. A repetition after an interruption adds the rest: each item is written only if it is absent, and the item that makes
 * a job, a watch or a key exist is the last one. Returns the number of written items.
 */
export async function applyRestore(
  deps: RestoreDeps,
  plan: RestorePlan,
  onProgress: (written: number) => void = () => {},
): Promise<number> {
  const now = deps.now();
  const live = openLive(deps, deps.toTable);
  let written = 0;
  const write = async (each: Write) => {
    if ((await live.write(each)).kind === 'written') written += 1;
  };
  for await (const items of scan(deps)) {
    const routed = items.flatMap((item) => routeItem(item, plan.chosen, now) ?? []);
    await inBatches(routed, (item) => write(putIfAbsent(item)));
    onProgress(written);
  }
  const backup = openLive(deps, deps.fromTable);
  for (let from = 0; from < plan.entities.length; from += writesAtOnce) {
    const entities = plan.entities.slice(from, from + writesAtOnce);
    const heads = await backup.getMany(entities.map(toHeadKey));
    const metas = await live.getMany(
      entities.flatMap(({ kind, id }) => (kind === 'key' ? [] : [itemKeys.meta(id)])),
    );
    await inBatches(heads, async (item) => {
      const entity = entities.find((each) => toText(toHeadKey(each)) === toText(readItem(keySchema, item)));
      if (entity === undefined) return;
      const meta = metas.find((each) => readItem(keySchema, each).pk === itemKeys.meta(entity.id).pk);
      // Backup and live table may have configurations of different versions: a run has that of the live one.
      const head = meta === undefined ? item : { ...item, meta_version: meta['meta_version'] };
      const result = await live.transact(toHeadWrites(entity, head, now));
      if (result.kind === 'written') written += 1;
      if (entity.kind === 'key') await listKey(live, item, now);
    });
    onProgress(written);
  }
  return written;
}

/** Lists the writes that make an entity exist, with its places in sets of ids. */
function toHeadWrites({ kind, id, caller, continues }: RestoredEntity, item: Item, now: Date): Write[] {
  if (kind === 'key') return [putIfAbsent({ ...item, ...itemKeys.apiKey(id) })];
  const run = putIfAbsent(restoreRunItem(item, now));
  if (kind === 'watch') return [run, addToSet(itemKeys.watchesOfCaller(caller), 'watches', id)];
  if (!continues) return [run];
  const active: Write = { kind: 'put', item: itemKeys.active(id) };
  return [run, addToSet(itemKeys.slots(caller), 'active', id), active];
}

function putIfAbsent(item: ItemKey & Item): Write {
  return { kind: 'put', item, condition: 'attribute_not_exists(#pk)' };
}

function addToSet(key: ItemKey, attribute: string, id: string): Write {
  return { kind: 'update', key, change: `ADD #${attribute} :ids`, values: { ':ids': new Set([id]) } };
}

/** Adds a valid key to the list of its caller for the limit, and marks its creator. A list that is missing is built from the keys. */
async function listKey(live: Table, item: Item, now: Date): Promise<void> {
  const key = readItem(apiKeySchema, item);
  if (!isRevoked(key, now))
    await live.write({
      kind: 'update',
      key: itemKeys.goodKeys(key.caller),
      change: 'SET #version = #version + :one, #hashes = list_append(#hashes, :hashes)',
      condition: 'attribute_exists(#pk) AND NOT contains(#hashes, :hash)',
      values: { ':one': 1, ':hash': key.hash, ':hashes': [key.hash] },
    });
  if (key.created_by !== null)
    await live.write({
      kind: 'update',
      key: itemKeys.apiKey(key.created_by),
      change: 'SET #has_made = :true',
      condition: 'attribute_exists(#pk)',
      values: { ':true': true },
    });
}

type FoundEntity = { entity: RestoredEntity; isOver: boolean };

/** Reads the jobs, watches, keys and callers of the backup. */
async function readEntities(
  deps: RestoreDeps,
  now: Date,
): Promise<{ entities: FoundEntity[]; callers: string[] }> {
  const configs = new Map<string, Item>();
  const entities: FoundEntity[] = [];
  const callers: string[] = [];
  const runs = new Map<string, Item>();
  for await (const items of scan(deps))
    for (const item of items) {
      const key = readItem(keySchema, item);
      if (/^(?:JOB|WATCH)#/.test(key.pk))
        throw new StorageError(
          `The backup ${deps.fromTable} has the layout of an earlier version. Restore it with the version that wrote it.`,
        );
      if (key.pk === keyPrefixes.callers) callers.push(key.sk);
      const head = readHead(key);
      if (head?.kind === 'key') entities.push(readKey(item, now));
      if (head?.kind === 'run') (head.part === 'head' ? runs : configs).set(head.id, item);
    }
  for (const [id, item] of runs) {
    const run = readRunItems(configs.get(id), item);
    if (run) entities.push(isJob(run) ? readJob(run, now) : readWatch(run));
  }
  return { entities, callers };
}

/** An active job whose time is over has ended since the backup, with its last event: it would end a second time. */
function readJob(job: Job, now: Date): FoundEntity {
  const { run_id: id, caller, source_id: sourceId, status } = job;
  const longest = addSeconds(new Date(job.created_at), rules.maxJobDurationSeconds).toISOString();
  const end = isTerminal(status) ? job.expires_at : (job.deadline ?? longest);
  const title = `${job.policy} of ${job.created_at}, ${status}`;
  const entity = { kind: 'job' as const, id, caller, sourceId, title, continues: !isTerminal(status) };
  return { entity, isOver: end !== null && new Date(end) <= now };
}

function readKey(item: Item, now: Date): FoundEntity {
  const key = readItem(apiKeySchema, item);
  const { hash: id, caller, prefix, label } = key;
  const title = `${prefix}…${label === null ? '' : ` ${label}`}`;
  return { entity: { kind: 'key', id, caller, title, continues: true }, isOver: isRevoked(key, now) };
}

function readWatch(watch: WatchRun): FoundEntity {
  const { run_id: id, caller, source_id: sourceId, status } = watch;
  const title = `${watch.config.name}, ${status}`;
  const entity = { kind: 'watch' as const, id, caller, sourceId, title, continues: status !== 'paused' };
  return { entity, isOver: watch.deleted_at !== null };
}

function toHeadKey({ kind, id }: Pick<RestoredEntity, 'kind' | 'id'>): ItemKey {
  return kind === 'key' ? itemKeys.apiKey(id) : itemKeys.run(id);
}

async function readPresent(table: Table, keys: ItemKey[]): Promise<Set<string>> {
  return new Set((await table.getMany(keys)).map((item) => toText(readItem(keySchema, item))));
}

function toText({ pk, sk }: ItemKey): string {
  return `${pk} ${sk}`;
}

function openLive({ client }: RestoreDeps, tableName: string): Table {
  return openTable({ client, tableName, newId: randomUUID, ...systemBackoff });
}

/** Reads all items of the restored table, in pages of at most a megabyte. */
async function* scan({ client, fromTable }: RestoreDeps): AsyncGenerator<Item[]> {
  const documents = DynamoDBDocumentClient.from(client);
  for await (const { Items: items = [] } of paginateScan({ client: documents }, { TableName: fromTable }))
    yield items;
}

async function inBatches<Value>(values: Value[], work: (value: Value) => Promise<void>): Promise<void> {
  for (let from = 0; from < values.length; from += writesAtOnce)
    await Promise.all(values.slice(from, from + writesAtOnce).map(work));
}

function zero(): KindCounts {
  return { add: 0, present: 0, over: 0, excluded: 0 };
}

const keySchema = z.object({ pk: z.string(), sk: z.string() });
