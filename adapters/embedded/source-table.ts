import type { DatabaseSync } from 'node:sqlite';
import { sourceSchema, type Source } from '../../core/records/job.ts';
import { readOptionalRecord } from './record.ts';

export function createSourceTable(database: DatabaseSync) {
  const insert = database.prepare('INSERT OR IGNORE INTO sources VALUES (?, ?)');
  const find = database.prepare('SELECT record FROM sources WHERE source_id = ?');
  const remove = database.prepare('DELETE FROM sources WHERE source_id = ?');
  return {
    insert: (source: Source) => void insert.run(source.source_id, JSON.stringify(source)),
    find: (sourceId: string) => readOptionalRecord(sourceSchema, find.get(sourceId)),
    remove: (sourceId: string) => void remove.run(sourceId),
  };
}
