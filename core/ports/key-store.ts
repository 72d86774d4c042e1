import type { ApiKey } from '../key.ts';

export interface KeyStore {
  put(key: ApiKey): Promise<void>;
  find(hash: string): Promise<ApiKey | undefined>;
  /** All keys, or one caller's; oldest first, revoked ones too. */
  list(caller?: string): Promise<ApiKey[]>;
  /** Ends a key at that moment, which may be to come. Of several ends the earliest holds. */
  revoke(hash: string, at: Date): Promise<void>;
  relabel(hash: string, label: string | null): Promise<void>;
  touch(hash: string, at: Date): Promise<void>;
}
