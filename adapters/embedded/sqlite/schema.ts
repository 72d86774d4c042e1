import { createHash } from 'node:crypto';
import { recordVersion } from '../../../core/records/record-version.ts';

/**
 * Tables of the data directory. Times are epoch milliseconds. `record` is the record as JSON; the other columns repeat
 * fields that conditions or indexes use. A run has two records: `meta`, which ticks do not write, and `run`, which each
 * commit writes. `unpublished` is the sequence up to which its events have receivers, `lease_until` is NULL if no
 * execution is expected, `gone_at` is the expiry of a job or the deletion of a watch. `feed` is the caller whose feed
 * has the event, NULL for jobs. `held` is 1 for a moment with a verdict that held, `moment_words` has the words of
 * each, and `moment_hours` how many an hour has, counted from 1970. In `api_keys`, timestamps have one form, so that
 * their text order is their time order; 'never' sorts after all of them, as does 'open' in `alerts.closed_at`, which
 * ends the indexes: a list of a past span passes all alerts before it.
 */
export const schema = `
CREATE TABLE runs (
  run_id TEXT NOT NULL PRIMARY KEY,
  policy TEXT NOT NULL,
  caller TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  status TEXT NOT NULL,
  version INTEGER NOT NULL,
  published INTEGER NOT NULL,
  unpublished INTEGER NOT NULL,
  lease_until INTEGER,
  gone_at INTEGER,
  meta TEXT NOT NULL,
  run TEXT NOT NULL
) STRICT;
CREATE INDEX runs_of_jobs ON runs (caller, created_at DESC, run_id DESC) WHERE policy <> 'watch';
CREATE INDEX runs_of_watches ON runs (caller, created_at, run_id) WHERE policy = 'watch';
CREATE INDEX runs_by_lease ON runs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX runs_to_publish ON runs (gone_at DESC) WHERE unpublished > published;
CREATE INDEX runs_by_end ON runs (gone_at) WHERE gone_at IS NOT NULL;

CREATE TABLE events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  type TEXT NOT NULL,
  feed TEXT,
  expires_at INTEGER,
  record TEXT NOT NULL,
  UNIQUE (run_id, sequence)
) STRICT;
CREATE INDEX events_by_type ON events (run_id, type, sequence);
CREATE INDEX events_of_feed ON events (feed, position) WHERE feed IS NOT NULL;
CREATE INDEX events_by_expiry ON events (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE sources (
  source_id TEXT NOT NULL PRIMARY KEY,
  record TEXT NOT NULL
) STRICT;

CREATE TABLE slots (
  caller TEXT NOT NULL,
  job_id TEXT NOT NULL,
  PRIMARY KEY (caller, job_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  job_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (caller, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);

CREATE TABLE totals (
  counter TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
  run_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  destination_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (run_id, sequence, destination_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_by_expiry ON deliveries (expires_at);

CREATE TABLE destination_states (
  run_id TEXT NOT NULL,
  destination_id TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (run_id, destination_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery_messages (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  message_group TEXT NOT NULL,
  message TEXT NOT NULL,
  visible_at INTEGER NOT NULL,
  failures INTEGER NOT NULL
) STRICT;
CREATE INDEX delivery_messages_by_group ON delivery_messages (message_group, position);

CREATE TABLE delivery_deduplication (
  deduplication_id TEXT NOT NULL PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_deduplication_by_end ON delivery_deduplication (until);

CREATE TABLE api_keys (
  hash TEXT NOT NULL PRIMARY KEY,
  caller TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  record TEXT NOT NULL,
  ends_at TEXT GENERATED ALWAYS AS (coalesce(record ->> 'revoked_at', 'never')) VIRTUAL,
  created_by TEXT GENERATED ALWAYS AS (record ->> 'created_by') VIRTUAL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_by_age ON api_keys (created_at, hash);
CREATE INDEX api_keys_of_caller ON api_keys (caller, created_at, hash);
CREATE INDEX api_keys_by_end ON api_keys (ends_at);
CREATE INDEX api_keys_by_end_of_caller ON api_keys (caller, ends_at);
CREATE INDEX api_keys_by_maker ON api_keys (created_by) WHERE created_by IS NOT NULL;

CREATE TABLE callers (
  caller TEXT NOT NULL PRIMARY KEY,
  record TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE caller_use (
  caller TEXT NOT NULL,
  day TEXT NOT NULL,
  model_calls INTEGER NOT NULL,
  model_errors INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  micro_usd INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL,
  PRIMARY KEY (caller, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE watch_secrets (
  watch_id TEXT NOT NULL PRIMARY KEY,
  record TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE alerts (
  alert_id TEXT NOT NULL PRIMARY KEY,
  watch_id TEXT NOT NULL,
  caller TEXT NOT NULL,
  condition_id TEXT NOT NULL,
  opened_at TEXT NOT NULL,
  closed_at TEXT NOT NULL,
  expires_at INTEGER,
  record TEXT NOT NULL
) STRICT;
CREATE INDEX alerts_of_caller ON alerts (caller, opened_at DESC, alert_id DESC, closed_at);
CREATE INDEX alerts_of_watch ON alerts (watch_id, opened_at DESC, alert_id DESC, closed_at);
CREATE INDEX alerts_by_expiry ON alerts (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE watch_hours (
  watch_id TEXT NOT NULL,
  hour TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (watch_id, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_hours_by_age ON watch_hours (hour);

CREATE TABLE moments (
  moment INTEGER PRIMARY KEY AUTOINCREMENT,
  caller TEXT NOT NULL,
  watch_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  moment_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  held INTEGER NOT NULL,
  frame_key TEXT,
  record TEXT NOT NULL,
  UNIQUE (watch_id, at, moment_id)
) STRICT;
CREATE TABLE moment_hours (
  watch_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (watch_id, hour)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER moment_added AFTER INSERT ON moments BEGIN
  INSERT INTO moment_hours VALUES (NEW.watch_id, NEW.at / 3600000, 1)
  ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER moment_removed AFTER DELETE ON moments BEGIN
  UPDATE moment_hours SET count = count - 1 WHERE watch_id = OLD.watch_id AND hour = OLD.at / 3600000;
  DELETE FROM moment_hours WHERE watch_id = OLD.watch_id AND hour = OLD.at / 3600000 AND count = 0;
END;
CREATE INDEX moments_by_expiry ON moments (expires_at);
CREATE INDEX moments_with_picture ON moments (caller, held, at) WHERE frame_key IS NOT NULL;
CREATE INDEX moments_without_picture ON moments (watch_id, at) WHERE frame_key IS NULL;
CREATE VIRTUAL TABLE moment_words USING fts5(owner, words, detail = column);
INSERT INTO moment_words (moment_words, rank) VALUES ('secure-delete', 1);

CREATE TABLE watch_reviews (
  watch_id TEXT NOT NULL,
  hour TEXT NOT NULL,
  condition_id TEXT NOT NULL,
  correct INTEGER NOT NULL,
  wrong INTEGER NOT NULL,
  missed INTEGER NOT NULL,
  PRIMARY KEY (watch_id, hour, condition_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE facts (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE motion_references (
  run_id TEXT NOT NULL PRIMARY KEY,
  generation INTEGER NOT NULL,
  source_id TEXT NOT NULL,
  stored_at INTEGER NOT NULL,
  motion TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX motion_references_by_age ON motion_references (stored_at);
`;

/**
 * Identity of schema and records, 31 bits. Without a release there is no migration: a database with another one is
 * refused.
 */
export const schemaVersion =
  createHash('sha256').update(`${recordVersion}${schema}`).digest().readUInt32BE() >>> 1;
