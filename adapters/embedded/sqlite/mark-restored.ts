import type { DatabaseSync } from 'node:sqlite';
import { rules } from '../../../core/rules.ts';
import { transaction } from './transaction.ts';

/**
 * Marks a database as restored from a backup, as on AWS: the time since the backup is lost, but its effects outside are
 * not. Sequences and ids of alerts continue above those that the lost time gave out, which receivers would take for
 * repetitions. Nothing of the backup is delivered again: its events count as published, and its pending deliveries as
 * failed.
 */
export function markRestored(database: DatabaseSync): void {
  const jump = rules.restoredJump;
  const failed = 'Failed to deliver: the service was restored from a backup';
  transaction(database, () =>
    database.exec(`
      UPDATE runs SET run = json_set(run, '$.sequence', (run ->> '$.sequence') + ${jump}) WHERE gone_at IS NULL;
      UPDATE runs SET run = json_set(run, '$.state.openings', (run ->> '$.state.openings') + ${jump})
        WHERE gone_at IS NULL AND policy = 'watch';
      UPDATE runs SET published = run ->> '$.sequence';
      UPDATE sqlite_sequence SET seq = seq + ${jump} WHERE name = 'events';
      UPDATE deliveries SET record = json_set(record, '$.state', 'failed', '$.next_attempt_at', NULL, '$.error', '${failed}')
        WHERE record ->> '$.state' = 'pending';
      UPDATE destination_states SET record = json_set(record, '$.waiting', json('[]'));
      DELETE FROM delivery_messages;
      DELETE FROM delivery_deduplication;
    `),
  );
}
