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

/** The keys of all pages, from the first on. */
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

/** Where keys are made and ended: what the endpoints below `/keys` do, in their shapes. `id` is a key's `key_id`. */
export type KeyBackend = {
  /** Makes its caller where there is none of that name. */
  create(wish: ApiKeySpec): Promise<CreatedKeyRecord>;
  /** All of them, page by page. */
  list(caller?: string): Promise<KeyRecord[]>;
  label(id: string, label: string | null): Promise<KeyRecord>;
  revoke(id: string, withDescendants: boolean): Promise<RevokedKeyRecord>;
  rotate(id: string, rotation: KeyRotation): Promise<RotatedKeyRecord>;
  close(): Promise<void>;
};
