import { z } from 'zod';
import {
  keyListResponseSchema,
  keySchema,
  newKeySchema,
  revokedKeySchema,
  rotatedKeySchema,
} from '../../core/responses/access.ts';
import { createServiceRequests } from '../target/service-requests.ts';
import { listAllKeys } from './key-backend.ts';
import type { KeyBackend, KeyRecord } from './key-backend.ts';

/** Creates a backend for a service at a base URL, with the permissions of the given key. */
export function remoteKeys(baseUrl: string, key: string): KeyBackend {
  const { ask, close } = createServiceRequests(baseUrl, key);
  return {
    callers: listCallerNames,
    create: async ({ caller, scopes, label }) => {
      if (!(await listCallerNames()).includes(caller)) await ask('POST', '/callers', z.unknown(), { caller });
      return ask('POST', '/keys', newKeySchema, { caller, scopes, label });
    },
    list: listKeys,
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

  /** Lists the callers of the keys that the given key may see. A caller without keys is not among them; only `admin` keys create one. */
  async function listCallerNames(): Promise<string[]> {
    return [...new Set((await listKeys()).map(({ caller }) => caller))];
  }

  function listKeys(caller?: string): Promise<KeyRecord[]> {
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
