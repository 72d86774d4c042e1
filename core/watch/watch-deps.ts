import type { KeyCrypto } from '../access/api-key.ts';
import type { CoreDeps } from '../dependencies.ts';
import type { VisionModel } from '../ports/vision-model.ts';

/** Dependencies of the operations on watches. */
export type WatchDeps = Pick<
  CoreDeps,
  | 'jobs'
  | 'watches'
  | 'executions'
  | 'media'
  | 'streams'
  | 'turns'
  | 'urls'
  | 'webhookUrls'
  | 'signer'
  | 'limits'
  | 'log'
  | 'now'
  | 'newId'
  | 'streamPhase'
  | 'pace'
> &
  Pick<KeyCrypto, 'sha256'> & { vision: Pick<VisionModel, 'supportsVideo' | 'model'> };
