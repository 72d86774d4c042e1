import type { ForecastPrice } from '../../core/advice/forecast.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import type { EvidenceLinks } from '../../core/delivery/links.ts';
import type { AsCaller } from '../../core/ports/callers.ts';
import type { Cameras } from '../../core/ports/cameras.ts';
import type { Destinations } from '../../core/ports/delivery.ts';
import type { HealthReader, AlarmReader, MediaUse } from '../../core/ports/observability.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';
import type { AuthDeps } from './bearer-auth.ts';
import type { AcceptsHost } from './guard-host.ts';
import type { RequestBodies } from './request-bodies.ts';
import type { EventStreamDeps } from './sse/messages.ts';

/** Dependencies of the routes. Those of ticks and windows only are left out. */
export type HttpDeps = Omit<CoreDeps, 'vision' | 'contactSheets' | 'compareMotion'> & {
  vision: Omit<VisionModel, 'lifecycle' | 'summarize'>;
  /** Destinations of watches, and their state, for test alerts. */
  destinations: Destinations;
  /** `null` if the price of the model is unknown. */
  modelPrice: ForecastPrice | null;
  /** Links to evidence that work without a key. */
  evidenceLinks: Pick<EvidenceLinks, 'signer'>;
  /** Absent in the embedded service, which has no alarms. */
  alarms?: AlarmReader;
  /** Absent on AWS, where the alarms report the same. */
  health?: HealthReader;
  /** Absent on AWS. */
  mediaUse?: MediaUse;
  /** Absent on AWS and without allowed ranges. */
  cameras?: Cameras;
  /** Present where callers share a machine. */
  asCaller?: AsCaller;
  bodies: RequestBodies;
  acceptsHost: AcceptsHost;
  /** Version of the software, from package.json. */
  version: string;
  /** Stores the address at which a caller opened the console; absent where the address of the service is public. */
  consoleOpened?: (caller: string, origin: string) => Promise<void>;
  /** Origins of pages that may call the API from a browser. */
  allowedOrigins: readonly string[];
} & AuthDeps &
  EventStreamDeps;
