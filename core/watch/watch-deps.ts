import type { KeyCrypto } from '../access/api-key.ts';
import type { CoreDeps } from '../dependencies.ts';
import type { Destinations } from '../ports/destinations.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { TokenPrice } from '../policies/watch/model-price.ts';

export type WatchDeps = Pick<
  CoreDeps,
  | 'runs'
  | 'jobs'
  | 'watches'
  | 'moments'
  | 'deliveries'
  | 'queue'
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
  Pick<KeyCrypto, 'sha256'> & {
    vision: Pick<VisionModel, 'capabilities' | 'model'>;
    destinations: Pick<Destinations, 'reasonToRefuse' | 'end'>;
    /** `null` if the price of the model is unknown. */
    modelPrice: TokenPrice | null;
  };
