import type { CoreDeps } from '../dependencies.ts';
import type { AlertOpened, DestinationResult, Destinations } from '../ports/delivery.ts';
import type { RunStore } from '../ports/runs.ts';
import { asJob, asWatch, isJobEvent, isWatchEvent } from '../records/run.ts';
import { webhookDestination } from '../records/delivery.ts';
import type { Delivery, DeliveryMessage, DestinationState } from '../records/delivery.ts';
import type { Destination, DestinationAddress, DestinationType } from '../records/watch.ts';
import { envelopeWithImages, findImageKey } from '../event/present-event.ts';
import { findPart, findSubject, isStillAddressed, isWanted } from './receivers.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import { rules } from '../rules.ts';
import { addSeconds, ageSeconds, isOver, secondsUntil } from '../time.ts';
import type { AddressPace } from './address-pace.ts';
import { isAllWell } from '../policies/watch/health.ts';
import { burstSeconds, isJoinable } from './burst.ts';
import { currentState, type AddressedDestination } from './destination-state.ts';
import type { MessageFacts, EvidenceLinks } from './links.ts';
import { describeState, toNotification } from './notification.ts';

export type DeliverDeps = Pick<
  CoreDeps,
  'media' | 'drawBoxes' | 'queue' | 'deliveries' | 'meter' | 'log' | 'baseUrl' | 'now' | 'random'
> & {
  runs: Pick<RunStore, 'getIncludingEnded' | 'event' | 'secrets'>;
  destinations: Pick<Destinations, 'send' | 'sendEnvelope'>;
  addressPace: AddressPace;
  evidenceLinks: EvidenceLinks;
  messageFacts: MessageFacts;
};

/** Event and destination of a delivery, as far as its attempts need them. */
export type Target = {
  destination: AddressedDestination;
  /** Address that the stored state belongs to; undefined without a state. */
  storedFingerprint: string | undefined;
  state: DestinationState;
  event: { type: string; timestamp: string };
  /** Part of the event in an alert, a lost stream or a failure; undefined without one. */
  part: ReturnType<typeof findPart>;
  /** Reason for which the service makes no attempt; a resend is attempted anyway. */
  refusal: string | undefined;
  /** Takes the next turn at the address. Returns 0, or the seconds until it is free. */
  takeTurn(): number;
  /**
   * True for a watch: the state of the destination has each attempt, and a waiting event holds back later ones of its
   * subject.
   */
  isOrdered: boolean;
  /** False for a heartbeat, which has no deliveries and no retries: the next check makes another call. */
  isRecorded: boolean;
  isMail: boolean;
  /** Time for which an opening waits for others, to be one message with them. */
  burstSeconds: number;
  /**
   * Reads an opening that the message can be about too; undefined for other events. Absent if it is about one event.
   */
  readOpening?: (sequence: number) => Promise<AlertOpened | undefined>;
  send(joined: readonly AlertOpened[]): Promise<DestinationResult>;
};

const ignore = () => undefined;

/** Returns dependencies that keep, count and log nothing of a delivery. */
export function unrecorded(deps: DeliverDeps): DeliverDeps {
  return {
    ...deps,
    deliveries: { ...deps.deliveries, put: async () => undefined },
    meter: { ...deps.meter, count: async () => undefined },
    log: { debug: ignore, info: ignore, warning: ignore, error: ignore },
  };
}

/** Returns the reason as text if run, event or destination no longer exist. */
export async function findTarget(message: DeliveryMessage, deps: DeliverDeps): Promise<Target | string> {
  return message.run === 'job' ? findWebhook(message, deps) : findDestination(message, deps);
}

async function findWebhook(message: DeliveryMessage, deps: DeliverDeps): Promise<Target | string> {
  const { run_id: jobId, sequence } = message;
  const destination = {
    run: message.run,
    run_id: jobId,
    destination_id: webhookDestination,
    fingerprint: '',
  };
  const [event, run, stored] = await Promise.all([
    deps.runs.event(jobId, sequence),
    deps.runs.getIncludingEnded(jobId),
    deps.deliveries.state(destination),
  ]);
  const job = asJob(run);
  if (!event || !isJobEvent(event)) return 'the event is no longer kept';
  if (!job?.webhook_url) return 'the job is no longer kept';
  const { webhook_url: url, ended_at: endedAt } = job;
  const state = currentState(destination, stored);
  return {
    destination,
    storedFingerprint: stored?.fingerprint,
    state,
    event,
    part: undefined,
    refusal:
      endedAt !== null && ageSeconds(endedAt, deps.now()) > rules.deliveryTtlSeconds
        ? 'the job ended more than an hour ago'
        : state.disabled
          ? 'the receiver answered 410 Gone to another event of this job'
          : undefined,
    takeTurn: () => 0,
    isOrdered: false,
    isRecorded: true,
    isMail: false,
    burstSeconds: 0,
    send: async () => {
      const body = await envelopeWithImages(job, event, deps);
      const withoutImages = { ...deps, media: { get: async () => undefined } };
      const plain =
        findImageKey(event) === undefined
          ? {}
          : { plain: await envelopeWithImages(job, event, withoutImages) };
      // All attempts have the same id, so that a receiver can detect a repetition.
      const id = `msg_${jobId}_${sequence}`;
      return deps.destinations.sendEnvelope(url, { caller: job.caller, id, body, ...plain });
    },
  };
}

async function findDestination(message: DeliveryMessage, deps: DeliverDeps): Promise<Target | string> {
  const { run_id: watchId, sequence, destination_id: id } = message;
  const [run, event, secrets, knownState] = await Promise.all([
    deps.runs.getIncludingEnded(watchId),
    deps.runs.event(watchId, sequence),
    deps.runs.secrets(watchId),
    deps.deliveries.state(message),
  ]);
  const stored = asWatch(run);
  const settings = stored?.config.destinations.find((each) => each.destination_id === id);
  const address = secrets?.destinations.find((each) => each.destination_id === id);
  if (!event || !isWatchEvent(event)) return 'the event is no longer kept';
  if (!stored || !settings || !address) return 'the destination was removed';
  const { fingerprint } = settings;
  const destination = { run: message.run, run_id: watchId, destination_id: id, fingerprint };
  const state = currentState(destination, knownState);
  const isBeat = settings.type === 'heartbeat';
  const isClip = event.type === 'alert_clip';
  const opened = isClip ? await deps.deliveries.get({ ...message, sequence: event.data.opening }) : undefined;
  // It is newer than the opening, so that its failure would be none.
  if (isClip && !opened) return noOpening;
  const isBeatDue = isAllWell(stored, id) && isPast(state.last_attempt_at, rules.heartbeatSeconds, deps);
  return {
    destination,
    storedFingerprint: knownState?.fingerprint,
    state,
    event,
    part: findPart(event),
    refusal:
      isBeat && !isBeatDue
        ? 'a heartbeat is not due'
        : opened && !hasReceived(opened, fingerprint)
          ? noOpening
          : findRefusal(settings, state, event),
    takeTurn: () => computeSpacing(settings, state, deps.now()) || takeTurn(address, deps),
    isOrdered: true,
    isRecorded: !isBeat,
    isMail: settings.type === 'email',
    ...joining(settings, state, event, deps),
    send: async (joined) => {
      const notification = await toNotification(event, stored, settings, deps);
      const subject = findSubject(event);
      const notified = state.notified.find((each) => each.subject === subject && each.sequence < sequence);
      const opening = notified?.receipt ?? opened?.receipt;
      const readCurrent = async () => {
        const now = asWatch(await deps.runs.getIncludingEnded(watchId));
        return now && isStillAddressed(settings, now.config.destinations) ? describeState(now) : null;
      };
      return deps.destinations.send(address, {
        ...notification,
        readCurrent,
        ...(opening !== undefined && { opening }),
        ...(joined.length > 0 && { joined }),
      });
    },
  };
}

/**
 * Returns false for an opening that was refused, or accepted by an earlier address. One that is pending goes to the
 * present one.
 */
function hasReceived({ state, fingerprint: accepted }: Delivery, fingerprint: string): boolean {
  return state !== 'failed' && (state === 'pending' || accepted === undefined || accepted === fingerprint);
}

const noOpening = 'this address did not receive its opening';

/** Decides whether an event joins others in a message. */
function joining(
  { type }: Destination,
  state: DestinationState,
  event: WatchEvent,
  { runs, now }: Pick<DeliverDeps, 'runs' | 'now'>,
): Pick<Target, 'burstSeconds' | 'readOpening'> {
  if (event.type !== 'alert_opened' || !isJoinable(type, event)) return { burstSeconds: 0 };
  return {
    burstSeconds: burstSeconds(state, event.data.severity, now()),
    readOpening: async (sequence) => {
      const other = await runs.event(event.watch_id, sequence);
      return other?.type === 'alert_opened' ? other : undefined;
    },
  };
}

function isPast(since: string | null, seconds: number, { now }: Pick<DeliverDeps, 'now'>): boolean {
  return since === null || isOver(since, seconds, now());
}

function findRefusal(settings: Destination, state: DestinationState, event: WatchEvent): string | undefined {
  const { disabled, removed_at_sequence: removedAt = 0 } = state;
  if (disabled) return `the destination is disabled: ${disabled.reason}`;
  if (event.sequence <= removedAt) return 'the destination was removed meanwhile';
  return findPart(event) === 'ending' && !isWanted(settings, event, state.notified) ? noOpening : undefined;
}

/** Returns the rest of the minimum time between attempts of a destination, which several processes share. */
function computeSpacing(
  { type }: Pick<Destination, 'type'>,
  { last_attempt_at: last }: DestinationState,
  now: Date,
): number {
  if (last === null || isOwn(type)) return 0;
  const seconds = rules.minDestinationSpacingSeconds;
  return secondsUntil(addSeconds(new Date(last), seconds), now, seconds);
}

function takeTurn(
  { type, url = '', to = '', routing_key: key = '' }: DestinationAddress,
  { addressPace }: Pick<DeliverDeps, 'addressPace'>,
): number {
  return isOwn(type) ? 0 : addressPace.take([url, to, key].join('\n'));
}

/** Receivers of the caller have no minimum time between attempts. */
function isOwn(type: DestinationType): boolean {
  return type === 'webhook' || type === 'mqtt';
}

export function describeDelivery({ run, run_id, destination_id, sequence, event_type }: Delivery) {
  const destination = run === 'job' ? {} : { destination_id };
  return { [`${run}_id`]: run_id, ...destination, event: event_type, sequence };
}
