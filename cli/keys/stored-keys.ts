import { operator } from '../../core/key-rights.ts';
import { addCaller } from '../../core/operations/callers.ts';
import { createKey, listKeys, relabelKey, revokeKey, rotateKey } from '../../core/operations/keys.ts';
import type { KeyNeeds } from '../../core/operations/keys.ts';
import { presentKey, presentNewKey } from '../../core/operations/present-key.ts';
import type { KeyDesk } from './key-desk.ts';

/** Keys in a store that is at hand. Whoever can write it is the operator, and may do everything. */
export function storedKeys(c: KeyNeeds, close: () => Promise<void>): KeyDesk {
  return {
    create: async (wish) => {
      await addCaller({ caller: wish.caller, label: null }, c);
      return presentNewKey(await createKey(operator, wish, c));
    },
    list: async (caller) => (await listKeys(operator, caller, c)).map(presentKey),
    label: async (id, label) => presentKey(await relabelKey(operator, id, label, c)),
    revoke: async (id) => presentKey(await revokeKey(operator, id, c)),
    rotate: async (id, graceSeconds) => {
      const { old, ...created } = await rotateKey(operator, id, graceSeconds, c);
      return { ...presentNewKey(created), replaces: presentKey(old) };
    },
    close,
  };
}
