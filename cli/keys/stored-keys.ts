import { operator } from '../../core/access/key-rights.ts';
import { addCaller, listCallerNames } from '../../core/access/callers.ts';
import { createKey, listKeys, relabelKey, revokeKey, rotateKey } from '../../core/access/keys.ts';
import type { KeyDeps } from '../../core/access/keys.ts';
import {
  presentKey,
  presentKeys,
  presentNewKey,
  presentRevocation,
  presentRotation,
} from '../../core/access/present-key.ts';
import { listAllKeys } from './key-backend.ts';
import type { KeyBackend } from './key-backend.ts';

const pageSize = 1000;

/** Creates a backend on a store. Write access to the store makes the user an operator with all permissions. */
export function storedKeys(deps: KeyDeps, close: () => Promise<void>): KeyBackend {
  return {
    callers: async () => listCallerNames(deps),
    create: async (spec) => {
      await addCaller({ caller: spec.caller, label: null }, deps);
      return presentNewKey(await createKey(operator, spec, deps));
    },
    list: (caller) =>
      listAllKeys(async (after) =>
        presentKeys(await listKeys(operator, { caller, after, limit: pageSize }, deps)),
      ),
    label: async (id, label) => presentKey(await relabelKey(operator, id, label, deps)),
    revoke: async (id, withDescendants) =>
      presentRevocation(await revokeKey(operator, id, withDescendants, deps)),
    rotate: async (id, rotation) => presentRotation(await rotateKey(operator, id, rotation, deps)),
    close,
  };
}
