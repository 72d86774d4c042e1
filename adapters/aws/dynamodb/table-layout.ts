/**
 * The names that the stack's table and this adapter share, and nothing of the SDK: the construct of the table imports it.
 * What is stored under these keys is told in `docs/data.md`.
 */

export type AttributeType = 'S' | 'N';
export type Attribute = { name: string; type: AttributeType };

export const partitionKey = { name: 'pk', type: 'S' } as const satisfies Attribute;
export const sortKey = { name: 'sk', type: 'S' } as const satisfies Attribute;

/**
 * Epoch seconds, N. DynamoDB deletes late, some days at most, so reads compare the record's own times as well; it is an hour and
 * more after what reads compare, since events outlive their job and deliveries are still under way.
 */
export const ttlAttribute = 'ttl';

export type Index = {
  name: string;
  partitionKey: Attribute;
  sortKey: Attribute;
  /** Besides the keys; none is KEYS_ONLY. */
  nonKeyAttributes: readonly string[];
};

/**
 * A caller's jobs by creation. Only jobs have the sort key, and none of its attributes changes in an ordinary tick, so that
 * the index is written when a job is created, begins and ends. It lags behind the table by milliseconds.
 */
export const jobsByCaller = {
  name: 'jobs-by-caller',
  partitionKey: { name: 'caller', type: 'S' },
  /** `<created_at>#<job_id>`: jobs of the same moment keep their order. */
  sortKey: { name: 'listed_at', type: 'S' },
  nonKeyAttributes: ['status', 'job_type', 'expires_at'],
} as const satisfies Index;

/**
 * Jobs with a lease that may have run out or with events that are not in the delivery queue. The due time is in whole minutes,
 * so that a tick that renews the lease seldom rewrites it.
 */
export const repair = {
  name: 'repair',
  /** `0` to `15`, by a hash of the job's id. */
  partitionKey: { name: 'repair_shard', type: 'S' },
  /** Minutes since 1970. */
  sortKey: { name: 'repair_due', type: 'N' },
  nonKeyAttributes: [],
} as const satisfies Index;

export const indexes: readonly Index[] = [jobsByCaller, repair];

/** How the partition keys of items begin: what a policy may condition `dynamodb:LeadingKeys` on. */
export const keyPrefixes = {
  /** Job, its events and its deliveries. */
  job: 'JOB#',
  /** All that `capture` may read. */
  source: 'SOURCE#',
  /** A caller's slots, idempotency keys, call limits, event streams and the list of its keys. */
  caller: 'CALLER#',
  /** An API key, by its SHA-256. */
  key: 'KEY#',
  /** The list of all keys. */
  keys: 'KEYS',
  /** The callers themselves. */
  callers: 'CALLERS',
  /** Which jobs are active, by shard. */
  active: 'ACTIVE#',
  /** What ended jobs came to, and what the meter counted, by shard. */
  totals: 'TOTALS#',
  /** Since when the meter counts. */
  meter: 'METER',
} as const;
