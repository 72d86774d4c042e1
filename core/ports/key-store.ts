import type { ApiKey } from '../key.ts';

export interface KeyStore {
  put(key: ApiKey): Promise<void>;
  find(hash: string): Promise<ApiKey | undefined>;
  /** All keys, or one caller's; oldest first, revoked ones too. */
  list(caller?: string): Promise<ApiKey[]>;
  /** Harmless when already revoked. */
  revoke(hash: string, at: Date): Promise<void>;
  touch(hash: string, at: Date): Promise<void>;
}
