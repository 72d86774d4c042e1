import { createCallerStore } from '../../adapters/embedded/callers/caller-store.ts';
import { createKeyStore } from '../../adapters/embedded/callers/key-store.ts';
import { nodeKeyCrypto } from '../../adapters/machine.ts';
import { storedKeys } from './key-backend.ts';
import type { KeyBackend } from './key-backend.ts';
import { openDataDirectory } from '../target/open-data-directory.ts';
import { selectTarget } from '../target/select-target.ts';
import type { KeyTarget } from '../target/select-target.ts';

/** Opens the backend of the target. Throws `CommandError` if several services are named or a key is missing. */
export async function openKeyBackend(target: KeyTarget): Promise<KeyBackend> {
  const selected = selectTarget(target);
  switch (selected.kind) {
    case 'local':
      return localKeys(selected.dataDir);
    // Imported on demand: the clients load slower than the rest of the command line.
    case 'remote': {
      const { remoteKeys } = await import('./key-backend.ts');
      return remoteKeys(selected.baseUrl, selected.key);
    }
    case 'deployed': {
      const { deployedKeys } = await import('./deployed-keys.ts');
      return deployedKeys(selected.which, nodeKeyCrypto);
    }
  }
}

function localKeys(dataDir: string): KeyBackend {
  const { database } = openDataDirectory(dataDir);
  const stores = { keys: createKeyStore(database), callers: createCallerStore(database) };
  return storedKeys({ ...stores, now: () => new Date(), ...nodeKeyCrypto }, async () => database.close());
}
