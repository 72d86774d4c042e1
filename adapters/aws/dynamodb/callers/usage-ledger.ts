import { z } from 'zod';
import { useRetentionDays, type UsageLedger } from '../../../../core/ports/usage-ledger.ts';
import { amountsOfUse, callerUseSchema, noUse } from '../../../../core/records/caller-use.ts';
import { callerPartition, itemKeys, sortPrefixes } from '../table/keys.ts';
import { readItem } from '../table/record.ts';
import type { Table } from '../table/table.ts';

/**
 * Creates the ledger of the use of callers: one item per caller and day, which counts write without reading, except the
 * first of a day.
 */
export function createUsageLedger(table: Table): UsageLedger {
  return {
    add: async (caller, day, use) => {
      const added = amountsOfUse.filter((name) => use[name] > 0);
      const ttl = Math.ceil(Date.parse(day) / 1000) + (useRetentionDays + 1) * 86_400;
      const key = itemKeys.callerUse(caller, day);
      const result = await table.write({
        kind: 'update',
        key,
        change: `SET #ttl = :ttl ADD ${added.map((name) => `#${name} :${name}`).join(', ')}`,
        values: { ':ttl': ttl, ...Object.fromEntries(added.map((name) => [`:${name}`, use[name]])) },
      });
      const item = result.kind === 'written' ? result.item : undefined;
      const isFirst = added.every((name) => item?.[name] === use[name]);
      // A check under way counts after its caller is erased. The eraser removes the caller before it removes items for
      // the last time: one of both removes this one.
      if (isFirst && !(await table.get(itemKeys.caller(caller)))) await table.write({ kind: 'delete', key });
    },
    days: async (caller, from, to) => {
      const items = await table.query({
        where: '#pk = :caller AND #sk BETWEEN :from AND :to',
        values: {
          ':caller': callerPartition(caller),
          ':from': `${sortPrefixes.use}${from}`,
          ':to': `${sortPrefixes.use}${to}`,
        },
      });
      return items.map((item) => {
        const { sk, ...use } = readItem(itemSchema, { ...noUse, ...item });
        return { day: sk.slice(sortPrefixes.use.length), use };
      });
    },
  };
}

const itemSchema = callerUseSchema.extend({ sk: z.string() });
