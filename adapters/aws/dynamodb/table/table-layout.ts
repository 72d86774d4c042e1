/**
 * Names that the table's construct and this adapter share, without the SDK. `docs/contribute/storage.md` describes the
 * items.
 */

/** Type of a key attribute: string or number. */
export type AttributeType = 'S' | 'N';
export type Attribute = { name: string; type: AttributeType };

export const partitionKey = { name: 'pk', type: 'S' } as const satisfies Attribute;
export const sortKey = { name: 'sk', type: 'S' } as const satisfies Attribute;

/**
 * TTL attribute, in epoch seconds. DynamoDB deletes up to some days late, so reads also compare the times in the
 * record. The TTL is at least an hour later than these, because events and pending deliveries outlive their job.
 */
export const ttlAttribute = 'ttl';

export type Index = {
  name: string;
  partitionKey: Attribute;
  sortKey: Attribute;
  /** Projected attributes besides the keys. An empty list means KEYS_ONLY. */
  nonKeyAttributes: readonly string[];
};

/**
 * Jobs of a caller by creation time. Only jobs have this sort key, and no projected attribute changes in an
 * ordinary tick. So the index is written only when a job is created, starts and ends. It lags the table by
 * milliseconds.
 */
export const jobsByCaller = {
  name: 'jobs-by-caller',
  partitionKey: { name: 'caller', type: 'S' },
  /** `<created_at>#<job_id>`, so that jobs created at the same time have a fixed order. */
  sortKey: { name: 'listed_at', type: 'S' },
  nonKeyAttributes: ['status', 'policy', 'expires_at'],
} as const satisfies Index;

/** Prefix of `caller` in the index of jobs: alerts are listed there by time of opening, apart from jobs. */
export const alertsOfCaller = 'ALERTS#';

/** Prefix of `repair_shard` of watches, apart from jobs. */
export const watchShard = 'W';

/**
 * Jobs with a lease that may have expired or with unpublished events. The due time is in whole minutes, so that a
 * tick that extends the lease rarely rewrites the entry.
 */
export const repair = {
  name: 'repair',
  /** `0` to `15`, from a hash of the job id. */
  partitionKey: { name: 'repair_shard', type: 'S' },
  /** Minutes since the epoch. */
  sortKey: { name: 'repair_due', type: 'N' },
  nonKeyAttributes: [],
} as const satisfies Index;

export const indexes: readonly Index[] = [jobsByCaller, repair];

/** Prefixes of partition keys, for policy conditions on `dynamodb:LeadingKeys`. */
export const keyPrefixes = {
  /** Run of a job or a watch with its events, deliveries and statistics. */
  run: 'RUN#',
  /** Sources, the only items that `capture` may read. */
  source: 'SOURCE#',
  /** Slots, idempotency keys and key list of a caller. */
  caller: 'CALLER#',
  /** Call limits and event streams of a caller, or of all: the only items that `events` may write. */
  permits: 'PERMITS#',
  /** API key, by its SHA-256. */
  key: 'KEY#',
  keys: 'KEYS',
  callers: 'CALLERS',
  /** Active jobs, by shard. */
  active: 'ACTIVE#',
  /** Counters of ended jobs and of the meter, by shard. */
  totals: 'TOTALS#',
  /** Facts of the deployment: cuts of bursts. */
  deployment: 'DEPLOYMENT',
  meter: 'METER',
  /** Addresses of the destinations of a watch. */
  watchSecrets: 'WATCHSECRETS#',
  alert: 'ALERT#',
} as const;
