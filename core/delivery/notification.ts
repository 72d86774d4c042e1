import type { CoreDeps } from '../dependencies.ts';
import type { Notification, NotifiedEvent } from '../ports/delivery.ts';
import type { WatchRun } from '../records/run.ts';
import type { Destination, DestinationType, Watch } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import {
  createConsoleLink,
  type MessageFacts,
  createEvidenceLink,
  findEvidenceKey,
  readBoxes,
  type EvidenceLinks,
} from './links.ts';
import { readFrame } from '../stream/shown-frame.ts';
import { testPicture } from '../observability/model-status.ts';
import { maskUrl } from '../stream/mask-url.ts';
import { findSourceUrl } from '../watch/present-watch.ts';

type Deps = Pick<CoreDeps, 'drawBoxes'> & {
  media: Pick<CoreDeps['media'], 'get'>;
  evidenceLinks: EvidenceLinks;
  messageFacts: MessageFacts;
};

/** True for types whose messages people read: their picture has its boxes drawn. */
const isForPeople: Record<DestinationType, boolean> = {
  slack: true,
  discord: true,
  ntfy: true,
  telegram: true,
  email: true,
  pagerduty: true,
  mqtt: false,
  webhook: false,
  heartbeat: false,
};

/** Maximum bytes of a clip in a message, by type; others have its link. */
const maxClipBytes: Partial<Record<DestinationType, number>> = {
  // core.telegram.org/bots/api#sendvideo: 50 MB.
  telegram: 40_000_000,
  // 10 MiB, without a subscription of the server (discord-api-docs, pull request 7312).
  discord: 10_000_000,
  // An attachment that ntfy.sh accepts without an account.
  ntfy: 2_000_000,
  // With its encoding below what mail servers accept.
  email: 5_000_000,
};

/** Returns true if the message has room for the evidence of the event. */
function isCarried({ data }: WatchEvent, type: DestinationType): boolean {
  return !('clip_key' in data) || (data.bytes ?? Infinity) <= (maxClipBytes[type] ?? 0);
}

/** Creates the notification of a stored event, with its evidence. A check becomes a heartbeat. */
export async function toNotification(
  event: WatchEvent,
  watch: WatchRun,
  { type, include_frame: includeFrame }: Pick<Destination, 'type' | 'include_frame'>,
  deps: Deps,
): Promise<Notification> {
  const { evidenceLinks, messageFacts } = deps;
  const key = findEvidenceKey(event);
  const withBoxes = isForPeople[type];
  return {
    ...describeWatch(watch, messageFacts.timeZone),
    sourceUrl: findSourceUrl(watch, event),
    model: messageFacts.model,
    console: createConsoleLink(event, watch.caller, evidenceLinks, messageFacts),
    current: describeState(watch),
    id: `msg_${event.watch_id}_${event.sequence}`,
    watchName: event.watch_name,
    labels: event.labels,
    sequence: event.sequence,
    timestamp: event.timestamp,
    event: event.type === 'progress' ? { type: 'heartbeat', data: {} } : event,
    frame:
      key === null || !isCarried(event, type)
        ? null
        : await readFrame(key, withBoxes ? readBoxes(event) : [], deps),
    frameUrl: key === null ? null : await createEvidenceLink(event, evidenceLinks, withBoxes),
    isPublic: evidenceLinks.isPublic,
    includeFrame,
  };
}

/** Creates the notification of a test alert, with a picture: a destination may accept none. */
export function testNotification(
  watch: WatchRun,
  { include_frame: includeFrame }: Pick<Destination, 'include_frame'>,
  id: string,
  now: Date,
): Notification {
  const event: NotifiedEvent = {
    type: 'test',
    data: { message: 'This is a test alert: nothing has happened.' },
  };
  return {
    ...describeWatch(watch, 'UTC'),
    model: null,
    console: null,
    current: describeState(watch),
    id: `msg_test_${id}`,
    watchName: watch.config.name,
    labels: watch.config.labels,
    sequence: 0,
    timestamp: now.toISOString(),
    event,
    frame: testPicture,
    frameUrl: null,
    isPublic: false,
    includeFrame,
  };
}

/** Returns the part of the state that destinations show. */
export function describeState({ deleted_at: deletedAt, sight, state }: WatchRun): Notification['current'] {
  if (deletedAt !== null) return null;
  const open = state.conditions.filter(({ phase }) => phase === 'open');
  return {
    openConditions: open.map(({ condition_id: id }) => id),
    isStreamLost: sight.stream_trouble?.lost ?? false,
  };
}

function describeWatch(
  { run_id: watchId, caller, stream_url: url, config: { conditions, schedule } }: Watch,
  serviceZone: string,
) {
  const timeZone = schedule?.time_zone ?? serviceZone;
  return { watchId, caller, sourceUrl: maskUrl(url), conditions, timeZone };
}
