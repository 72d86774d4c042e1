import { hasExpired, type Job } from '../../../../core/records/job.ts';
import type { JobQuery } from '../../../../core/ports/runs.ts';
import { isJob, type Run } from '../../../../core/records/run.ts';
import type { ItemTtls } from '../table/item-ttls.ts';
import { readKey } from '../table/record.ts';
import { jobsByCaller } from '../table/table-layout.ts';
import type { Table, ReadOptions, ItemKey } from '../table/table.ts';
import { itemKeys, readRunId } from '../table/keys.ts';
import { readRunItems } from './run-item.ts';

/**
 * Counts all matches on the index, about 5,000 jobs per request, and reads the jobs of one page from the table, which
 * may lag as the index does. The range is bounded by the maximum duration of a job and its retention.
 */
export async function listJobs(
  { table, ttls }: { table: Table; ttls: ItemTtls },
  query: JobQuery,
  now: Date,
): Promise<{ jobs: Job[]; total: number }> {
  const keys = (await table.query(matching(query, ttls, now))).map(readKey);
  if (query.label !== undefined) return listLabelled(keys, table, query, now);
  const page = keys.slice(query.offset, query.offset + query.limit);
  const jobs = (await readRuns(table, page, { mayLag: true })).filter(isJob);
  return { jobs: jobs.filter((job) => stillMatches(job, query, now)), total: keys.length };
}

/** Reads all jobs, since the index has no labels: those of one caller within its retention. */
async function listLabelled(keys: ItemKey[], table: Table, query: JobQuery, now: Date) {
  const { label = '', offset, limit } = query;
  const all = (await readRuns(table, keys, { mayLag: true })).filter(isJob);
  const jobs = all.filter((job) => job.labels.includes(label) && stillMatches(job, query, now));
  return { jobs: jobs.slice(offset, offset + limit), total: jobs.length };
}

function matching({ caller, status, policy }: JobQuery, ttls: ItemTtls, now: Date) {
  const filters = [
    '(attribute_not_exists(#expires_at) OR #expires_at > :now)',
    ...(status === undefined ? [] : ['#status = :status']),
    ...(policy === undefined ? [] : ['#policy = :policy']),
  ];
  return {
    index: jobsByCaller.name,
    where: '#caller = :caller AND #listed_at >= :oldest',
    filter: filters.join(' AND '),
    values: {
      ':caller': caller,
      ':oldest': ttls.oldestListable(now).toISOString(),
      ':now': now.toISOString(),
      ...(status !== undefined && { ':status': status }),
      ...(policy !== undefined && { ':policy': policy }),
    },
    newestFirst: true,
  };
}

/** The index lags: the job may have started, ended or expired since. */
function stillMatches(job: Job, { status, policy }: JobQuery, now: Date): boolean {
  return (
    (status === undefined || job.status === status) &&
    (policy === undefined || job.policy === policy) &&
    !hasExpired(job, now)
  );
}

/** Returns the runs of these partitions that exist, in this order. */
export async function readRuns(
  table: Table,
  keys: readonly Pick<ItemKey, 'pk'>[],
  options?: ReadOptions,
): Promise<Run[]> {
  const ids = keys.map(readRunId);
  const items = await table.getMany(
    ids.flatMap((id) => [itemKeys.meta(id), itemKeys.run(id)]),
    options,
  );
  return ids.flatMap((_, index) => readRunItems(items[2 * index], items[2 * index + 1]) ?? []);
}
