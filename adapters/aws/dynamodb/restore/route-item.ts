import { z } from 'zod';
import { sortPrefixes } from '../table/keys.ts';
import { readItem } from '../table/record.ts';
import { keyPrefixes, ttlAttribute } from '../table/table-layout.ts';
import type { Item, ItemKey } from '../table/write.ts';
import { restoreDeliveryItem, restoreDestinationItem } from './restored-items.ts';

/** Runs of jobs and watches, and keys, that the live table lacks and receives, by id. */
export type Chosen = {
  runs: ReadonlySet<string>;
  keys: ReadonlySet<string>;
  /** Sources of these runs. */
  sources: ReadonlySet<string>;
  /** Callers that nothing is restored of. */
  exceptCallers: ReadonlySet<string>;
};

/** Item that makes its run or key exist. It is written last, so that an interrupted restore is continued by the next one. */
export type Head = { kind: 'run' | 'key'; id: string; part: 'config' | 'head' };

/** Returns the head that an item is; `config` is the part of a run that ticks do not write. */
export function readHead({ pk, sk }: ItemKey): Head | undefined {
  const [run, key] = [keyPrefixes.run, keyPrefixes.key];
  if (sk === 'META' && pk.startsWith(key)) return { kind: 'key', id: pk.slice(key.length), part: 'head' };
  if (!pk.startsWith(run)) return undefined;
  const id = pk.slice(run.length);
  if (sk === 'RUN') return { kind: 'run', id, part: 'head' };
  return sk === 'META' ? { kind: 'run', id, part: 'config' } : undefined;
}

/** Items of a caller that the heads rebuild: slots, permits, valid keys, list of watches. */
const rebuilt: ReadonlySet<string> = new Set(['SLOTS', 'CALLS', 'SESSIONS', 'GOOD_KEYS', 'WATCHES']);

/**
 * Returns the item that the live table receives if it has none of that key. Returns undefined for heads, for what belongs to no chosen
 * run or key, and for expired items.
 */
export function routeItem(item: Item, chosen: Chosen, now: Date): (ItemKey & Item) | undefined {
  const key = readItem(keySchema, item);
  const { pk, sk } = key;
  const ttl = item[ttlAttribute];
  if (typeof ttl === 'number' && ttl * 1000 <= now.getTime()) return undefined;
  if (readHead(key)?.part === 'head') return undefined;
  const idBehind = (prefix: string) => pk.slice(prefix.length);
  const passing = (isChosen: boolean) => (isChosen ? { ...item, ...key } : undefined);

  if (pk.startsWith(keyPrefixes.run)) {
    if (!chosen.runs.has(idBehind(keyPrefixes.run))) return undefined;
    if (sk.startsWith(sortPrefixes.destination)) return { ...restoreDestinationItem(item), ...key };
    return sk.startsWith(sortPrefixes.delivery)
      ? { ...restoreDeliveryItem(item), ...key }
      : { ...item, ...key };
  }
  if (pk.startsWith(keyPrefixes.source)) return passing(chosen.sources.has(idBehind(keyPrefixes.source)));
  if (pk.startsWith(keyPrefixes.watchSecrets))
    return passing(chosen.runs.has(idBehind(keyPrefixes.watchSecrets)));
  if (pk.startsWith(keyPrefixes.alert)) return passing(chosen.runs.has(String(item['policy'])));
  if (pk === keyPrefixes.keys) return passing(chosen.keys.has(String(item['hash'])));
  if (pk.startsWith(keyPrefixes.key))
    return passing(chosen.keys.has(idBehind(keyPrefixes.key)) || chosen.keys.has(String(item['hash'])));
  if (pk === keyPrefixes.callers) return passing(!chosen.exceptCallers.has(sk));
  if (pk.startsWith(keyPrefixes.caller)) {
    if (rebuilt.has(sk) || chosen.exceptCallers.has(idBehind(keyPrefixes.caller))) return undefined;
    if (sk.startsWith(sortPrefixes.apiKey)) return passing(chosen.keys.has(String(item['hash'])));
    if (!sk.startsWith('IDEMPOTENCY#')) return passing(true);
    return passing(chosen.runs.has(String(item['job_id'])));
  }
  return passing(pk.startsWith(keyPrefixes.totals) || pk === keyPrefixes.meter);
}

const keySchema = z.object({ pk: z.string(), sk: z.string() });
