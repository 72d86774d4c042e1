import { z } from 'zod';
import type { ApiKeySpec } from '../../core/access/api-key.ts';
import type { KeyRotation } from '../../core/requests/keys.ts';
import {
  keyListResponseSchema,
  keySchema,
  newKeySchema,
  revokedKeySchema,
  rotatedKeySchema,
} from '../../core/responses/access.ts';
import { operator } from '../../core/access/key-rights.ts';
import { addCaller, listCallerNames } from '../../core/access/callers.ts';
import {
  createKey,
  listKeys,
  relabelKey,
  revokeKey,
  rotateKey,
  presentKey,
  presentKeys,
  presentNewKey,
  presentRevocation,
  presentRotation,
} from '../../core/access/keys.ts';
import type { KeyDeps } from '../../core/access/keys.ts';
import { createServiceRequests } from '../target/service-requests.ts';

export type KeyRecord = z.infer<typeof keySchema>;
export type CreatedKeyRecord = z.infer<typeof newKeySchema>;
export type RevokedKeyRecord = z.infer<typeof revokedKeySchema>;
export type RotatedKeyRecord = z.infer<typeof rotatedKeySchema>;

/** Returns the keys of all pages. */
export async function listAllKeys(
  readPage: (after: string | undefined) => Promise<z.infer<typeof keyListResponseSchema>>,
): Promise<KeyRecord[]> {
  const records: KeyRecord[] = [];
  let after: string | undefined;
  do {
    const page = await readPage(after);
    records.push(...page.keys);
    after = page.next_after ?? undefined;
  } while (after !== undefined);
  return records;
}

/** Operations on keys, with the shapes of the endpoints below `/keys`. `id` is a `key_id`. */
export type KeyBackend = {
  /** Lists the names of all callers, or those that the key may see. */
  callers(): Promise<string[]>;
  /** Creates a key, and its caller if the caller does not exist. */
  create(spec: ApiKeySpec): Promise<CreatedKeyRecord>;
  /** Lists all keys, page by page. */
  list(caller?: string): Promise<KeyRecord[]>;
  label(id: string, label: string | null): Promise<KeyRecord>;
  revoke(id: string, withDescendants: boolean): Promise<RevokedKeyRecord>;
  rotate(id: string, rotation: KeyRotation): Promise<RotatedKeyRecord>;
  close(): Promise<void>;
};

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

/** Creates a backend for a service at a base URL, with the permissions of the given key. */
export function remoteKeys(baseUrl: string, key: string): KeyBackend {
  const { ask, close } = createServiceRequests(baseUrl, key);
  return {
    callers: readCallerNames,
    create: async ({ caller, scopes, label }) => {
      if (!(await readCallerNames()).includes(caller)) await ask('POST', '/callers', z.unknown(), { caller });
      return ask('POST', '/keys', newKeySchema, { caller, scopes, label });
    },
    list: readKeys,
    label: (id, label) => ask('PATCH', `/keys/${id}`, keySchema, { label }),
    revoke: (id, withDescendants) =>
      ask('DELETE', `/keys/${id}?descendants=${withDescendants}`, revokedKeySchema),
    rotate: (id, { grace_seconds: graceSeconds, descendants }) =>
      ask(
        'POST',
        `/keys/${id}/rotate?grace_seconds=${graceSeconds}&descendants=${descendants}`,
        rotatedKeySchema,
      ),
    close,
  };

  /**
   * Lists the callers of the keys that the given key may see. A caller without keys is not among them; only `admin`
   * keys create one.
   */
  async function readCallerNames(): Promise<string[]> {
    return [...new Set((await readKeys()).map(({ caller }) => caller))];
  }

  function readKeys(caller?: string): Promise<KeyRecord[]> {
    return listAllKeys(async (after) => {
      const query = new URLSearchParams({
        limit: '1000',
        ...(caller !== undefined && { caller }),
        ...(after !== undefined && { after }),
      });
      return ask('GET', `/keys?${query.toString()}`, keyListResponseSchema);
    });
  }
}
