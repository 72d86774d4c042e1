import type { DatabaseSync } from 'node:sqlite';
import { sourceSchema, type Source } from '../../../core/records/job.ts';
import { createRecordReader } from '../sqlite/record.ts';

/** Sources change with an edit only, and are below a kB. */
const maxParsed = 1000;

export function createSourceTable(database: DatabaseSync) {
  const put = database.prepare('INSERT OR REPLACE INTO sources VALUES (?, ?)');
  const find = database.prepare('SELECT record FROM sources WHERE source_id = ?');
  const remove = database.prepare('DELETE FROM sources WHERE source_id = ?');
  const read = createRecordReader(sourceSchema, maxParsed);
  return {
    put: (source: Source) => void put.run(source.source_id, JSON.stringify(source)),
    find: (sourceId: string) => read(sourceId, find.get(sourceId)),
    remove: (sourceId: string) => void remove.run(sourceId),
  };
}
