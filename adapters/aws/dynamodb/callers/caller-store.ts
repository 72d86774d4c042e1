import { callerSchema } from '../../../../core/records/caller.ts';
import type { CallerStore } from '../../../../core/ports/callers.ts';
import { itemKeys } from '../table/keys.ts';
import { readItem } from '../table/record.ts';
import { keyPrefixes } from '../table/table-layout.ts';
import type { Table } from '../table/table.ts';

/**
 * Creates the caller store: one partition, sorted by name. Its methods throw `TransientError`, and `StorageError`
 * for an unreadable record.
 */
export function createCallerStore(table: Table): CallerStore {
  return {
    add: async (caller) => {
      const item = { ...itemKeys.caller(caller.caller), ...caller };
      await table.write({ kind: 'put', item, condition: 'attribute_not_exists(#pk)' });
    },
    find: async (caller) => {
      if (!isName(caller)) return undefined;
      const item = await table.get(itemKeys.caller(caller));
      return item && readItem(callerSchema, item);
    },
    list: async (after, limit) => {
      const partition = { ':callers': keyPrefixes.callers };
      const items = await table.query(
        after === ''
          ? { where: '#pk = :callers', values: partition, limit }
          : {
              where: '#pk = :callers AND #sk > :after',
              values: { ...partition, ':after': after.slice(0, maxNameLength + 1) },
              limit,
            },
      );
      return items.map((item) => readItem(callerSchema, item));
    },
    replaceSecret: async (caller, expectedVersion, secret) => {
      if (!isName(caller)) return 'outdated';
      const result = await table.write({
        kind: 'update',
        key: itemKeys.caller(caller),
        change: 'SET #webhook_secret = :secret',
        condition: '#webhook_secret.#version = :expected',
        values: { ':secret': secret, ':expected': expectedVersion },
      });
      return result.kind === 'written' ? 'replaced' : 'outdated';
    },
    setWebhookEvents: async (caller, events) => {
      if (!isName(caller)) return;
      await table.write({
        kind: 'update',
        key: itemKeys.caller(caller),
        change: 'SET #webhook_events = :events',
        condition: 'attribute_exists(#pk)',
        values: { ':events': events },
      });
    },
  };
}

/** Maximum length of a name. DynamoDB rejects empty keys and keys over one kilobyte. */
const maxNameLength = 64;

function isName(caller: string): boolean {
  return caller.length > 0 && caller.length <= maxNameLength;
}
