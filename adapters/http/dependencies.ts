import type { CoreDeps } from '../../core/dependencies.ts';
import type { AlarmReader } from '../../core/ports/alarms.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';
import type { AuthDeps } from './bearer-auth.ts';
import type { AcceptsHost } from './guard-host.ts';
import type { RequestBodies } from './request-bodies.ts';
import type { EventStreamDeps } from './sse/dependencies.ts';

/** All that the routes work with: what belongs to ticks and windows alone is none of theirs. */
export type HttpDeps = Omit<CoreDeps, 'vision' | 'contactSheets' | 'compareMotion'> & {
  vision: Omit<VisionModel, 'summarize'>;
  /** Absent where nothing watches the service: on one machine. */
  alarms?: AlarmReader;
  bodies: RequestBodies;
  acceptsHost: AcceptsHost;
} & AuthDeps &
  EventStreamDeps;
