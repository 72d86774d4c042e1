import type { Collaborators } from '../../core/collaborators.ts';
import type { Alarms } from '../../core/ports/alarms.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';
import type { AuthNeeds } from './bearer-auth.ts';
import type { AcceptsHost } from './guard-host.ts';
import type { RequestBodies } from './request-bodies.ts';
import type { EventStreamNeeds } from './sse/event-stream-needs.ts';

/** All that the routes work with: what belongs to ticks and windows alone is none of theirs. */
export type HttpCollaborators = Omit<Collaborators, 'vision' | 'contactSheets' | 'compareMotion'> & {
  vision: Omit<VisionModel, 'summarize'>;
  /** Absent where nothing watches the service: on one machine. */
  alarms?: Alarms;
  bodies: RequestBodies;
  acceptsHost: AcceptsHost;
} & AuthNeeds &
  EventStreamNeeds;
