import type { z } from 'zod';
import type { ApiKeySpec } from '../../core/access/api-key.ts';
import type { KeyRotation } from '../../core/requests/keys.ts';
import type {
  keyListResponseSchema,
  keySchema,
  newKeySchema,
  revokedKeySchema,
  rotatedKeySchema,
} from '../../core/responses/access.ts';

export type KeyRecord = z.infer<typeof keySchema>;
export type CreatedKeyRecord = z.infer<typeof newKeySchema>;
export type RevokedKeyRecord = z.infer<typeof revokedKeySchema>;
export type RotatedKeyRecord = z.infer<typeof rotatedKeySchema>;

/** Returns the keys of all pages. */
export async function listAllKeys(
  readPage: (after: string | undefined) => Promise<z.infer<typeof keyListResponseSchema>>,
): Promise<KeyRecord[]> {
  const found: KeyRecord[] = [];
  let after: string | undefined;
  do {
    const page = await readPage(after);
    found.push(...page.keys);
    after = page.next_after ?? undefined;
  } while (after !== undefined);
  return found;
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
