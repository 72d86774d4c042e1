import { createHash } from 'node:crypto';
import { recordVersion } from '../../../../core/records/record-version.ts';
import { indexes, partitionKey, sortKey, ttlAttribute } from './table-layout.ts';

/**
 * Identity of the stored data: layout of the table, and version of its records. A table with another one is refused.
 */
export const storageVersion = createHash('sha256')
  .update(JSON.stringify([partitionKey, sortKey, ttlAttribute, indexes, recordVersion]))
  .digest('hex')
  .slice(0, 10);
