import { operator } from '../../core/key-rights.ts';
import { addCaller } from '../../core/operations/callers.ts';
import { createKey, listKeys, relabelKey, revokeKey, rotateKey } from '../../core/operations/keys.ts';
import type { KeyNeeds } from '../../core/operations/keys.ts';
import {
  presentKey,
  presentKeys,
  presentNewKey,
  presentRevocation,
  presentRotation,
} from '../../core/operations/present-key.ts';
import { listAllKeys } from './key-desk.ts';
import type { KeyDesk } from './key-desk.ts';

const pageSize = 1000;

/** Keys in a store that is at hand. Whoever can write it is the operator, and may do everything. */
export function storedKeys(c: KeyNeeds, close: () => Promise<void>): KeyDesk {
  return {
    create: async (wish) => {
      await addCaller({ caller: wish.caller, label: null }, c);
      return presentNewKey(await createKey(operator, wish, c));
    },
    list: (caller) =>
      listAllKeys(async (after) =>
        presentKeys(await listKeys(operator, { caller, after, limit: pageSize }, c)),
      ),
    label: async (id, label) => presentKey(await relabelKey(operator, id, label, c)),
    revoke: async (id, withDescendants) =>
      presentRevocation(await revokeKey(operator, id, withDescendants, c)),
    rotate: async (id, rotation) => presentRotation(await rotateKey(operator, id, rotation, c)),
    close,
  };
}
