import type { z } from 'zod';
import type { NewKey } from '../../core/api-key.ts';
import type { keySchema, newKeySchema, rotatedKeySchema } from '../../core/responses/access.ts';

export type KeyRecord = z.infer<typeof keySchema>;
export type CreatedKeyRecord = z.infer<typeof newKeySchema>;
export type RotatedKeyRecord = z.infer<typeof rotatedKeySchema>;

/** Where keys are made and ended: what the endpoints below `/keys` do, in their shapes. `id` is a key's `key_id`. */
export type KeyDesk = {
  /** Makes its caller where there is none of that name. */
  create(wish: NewKey): Promise<CreatedKeyRecord>;
  list(caller?: string): Promise<KeyRecord[]>;
  label(id: string, label: string | null): Promise<KeyRecord>;
  revoke(id: string): Promise<KeyRecord>;
  rotate(id: string, graceSeconds: number): Promise<RotatedKeyRecord>;
  close(): Promise<void>;
};
