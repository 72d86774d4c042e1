import type { Collaborators } from '../../core/collaborators.ts';
import type { AuthNeeds } from './bearer-auth.ts';
import type { EventStreamNeeds } from './sse/event-stream-needs.ts';

/** All that the routes work with. */
export type HttpCollaborators = Collaborators & AuthNeeds & EventStreamNeeds;
