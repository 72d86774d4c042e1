import type { CoreDeps } from '../dependencies.ts';
import type { DestinationResult, Destinations } from '../ports/destinations.ts';
import type { RunStore } from '../ports/run-store.ts';
import { asJob, asWatch, isJobEvent, isWatchEvent } from '../records/run.ts';
import type { WatchRun } from '../records/watch-run.ts';
import { webhookDestination } from '../records/delivery.ts';
import type { Delivery, DeliveryMessage, DestinationState } from '../records/delivery.ts';
import type {
  Destination,
  DestinationAddress,
  DestinationType,
  FormerDestination,
} from '../records/watch.ts';
import type { WatchSecrets } from '../records/watch-secrets.ts';
import { envelopeWithImages, findImageKey } from '../event/present-event.ts';
import { findSubject, isEnding } from './receivers.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import { rules } from '../rules.ts';
import { addSeconds, ageSeconds, isOver, secondsUntil } from '../time.ts';
import type { AddressPace } from './address-pace.ts';
import { isFormerOver } from '../watch/find-former.ts';
import { isAllWell } from '../policies/watch/health.ts';
import { currentState, initialDestinationState, isEndElsewhere } from './destination-state.ts';
import type { AddressedDestination } from './destination-state.ts';
import type { MessageFacts } from './console-link.ts';
import type { EvidenceLinks } from './evidence-link.ts';
import { eraseFormer } from './erase-former.ts';
import { describeState, toNotification } from './notification.ts';
import { isTooLarge, outcomeFor, webhookStatuses } from './response-outcome.ts';

export type DeliverDeps = Pick<
  CoreDeps,
  | 'media'
  | 'drawBoxes'
  | 'queue'
  | 'deliveries'
  | 'webhooks'
  | 'signer'
  | 'meter'
  | 'log'
  | 'baseUrl'
  | 'now'
  | 'random'
> & {
  runs: Pick<RunStore, 'getIncludingEnded' | 'event' | 'secrets' | 'commit'>;
  destinations: Destinations;
  addressPace: AddressPace;
  evidenceLinks: EvidenceLinks;
  messageFacts: MessageFacts;
};

/** Event and destination of a delivery, as far as its attempts need them. */
export type Target = {
  destination: AddressedDestination;
  state: DestinationState;
  event: { type: string; timestamp: string };
  /** Reason for which the service makes no attempt; a resend is attempted anyway. */
  refusal: string | undefined;
  /** Takes the next turn at the address. Returns 0, or the seconds until it is free. */
  takeTurn(): number;
  /** True if each attempt is recorded in the state of the destination. */
  keepsState: boolean;
  /** True if a waiting event holds back later ones of its subject. */
  holdsBack: boolean;
  /** Heartbeats only: they are called while all is well, and a failed call is not repeated. */
  beat?: { isDue: boolean };
  send(): Promise<DestinationResult>;
  /** Former destinations only: the last time for an attempt, and what follows the delivery. */
  former?: { until: Date; erase(): Promise<void> };
};

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
    state,
    event,
    refusal:
      endedAt !== null && ageSeconds(endedAt, deps.now()) > rules.deliveryTtlSeconds
        ? 'the job ended more than an hour ago'
        : state.disabled
          ? 'the receiver answered 410 Gone to another event of this job'
          : undefined,
    takeTurn: () => 0,
    keepsState: false,
    holdsBack: false,
    send: async () => {
      const send = async (images: Pick<CoreDeps, 'media'>['media']['get']) => {
        const envelope = await envelopeWithImages(job, event, { ...deps, media: { get: images } });
        const body = JSON.stringify(envelope);
        // All attempts have the same id, so that a receiver can detect a repetition.
        const signature = await deps.signer.sign(job.caller, `msg_${jobId}_${sequence}`, deps.now(), body);
        const headers = { ...signature, 'content-type': 'application/json' };
        const result = await deps.webhooks.send({ url, headers, body });
        return { ...result, outcome: outcomeFor(result.status, webhookStatuses) };
      };
      const result = await send(deps.media.get);
      if (!isTooLarge(result) || findImageKey(event) === undefined) return result;
      return { ...(await send(async () => undefined)), isPictureRefused: true };
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
  const former = stored && !settings && findFormerDestination(message, stored, secrets, deps);
  if (former) return former;
  // The message of a former destination was lost.
  const isErased = (each: FormerDestination) => isFormerOver(each, deps.now());
  if (stored?.former_destinations.some(isErased)) await eraseFormer(watchId, isErased, deps.runs);
  if (!event || !isWatchEvent(event)) return 'the event is no longer kept';
  if (!stored || !settings || !address) return 'the destination was removed';
  const { fingerprint } = settings;
  const destination = { run: message.run, run_id: watchId, destination_id: id, fingerprint };
  const state = currentState(destination, knownState);
  /** Sends again if the state that a broker keeps has changed during the attempt, because another attempt may have published it before. */
  const send = async (before: WatchRun, repetitions = 3): Promise<DestinationResult> => {
    const result = await deps.destinations.send(address, await toNotification(event, before, settings, deps));
    if (settings.type !== 'mqtt' || result.outcome !== 'delivered' || repetitions === 0) return result;
    const after = asWatch(await deps.runs.getIncludingEnded(watchId));
    const [shown, current] = [before, after].map((each) => each && JSON.stringify(describeState(each)));
    return after && shown !== current ? send(after, repetitions - 1) : result;
  };
  return {
    destination,
    state,
    event,
    refusal: findRefusal(settings, state, event),
    takeTurn: () => computeSpacing(settings, state, deps.now()) || takeTurn(address, deps),
    keepsState: true,
    // It shows the state at the attempt, whatever the event.
    holdsBack: settings.type !== 'mqtt',
    ...(settings.type === 'heartbeat' && {
      beat: { isDue: isAllWell(stored, id) && isBeatDue(state, deps.now()) },
    }),
    send: () => send(stored),
  };
}

/** A broker of MQTT has no openings: it shows the state at the attempt. */
function findRefusal({ type }: Destination, state: DestinationState, event: WatchEvent): string | undefined {
  if (state.disabled) return `the destination is disabled: ${state.disabled.reason}`;
  const position = { subject: findSubject(event), sequence: event.sequence };
  return type !== 'mqtt' && isEnding(event) && isEndElsewhere(state, position)
    ? 'the address before accepted its opening'
    : undefined;
}

/** Returns the target of an end that a former destination receives at its address; undefined if it is erased. */
function findFormerDestination(
  message: DeliveryMessage,
  stored: WatchRun,
  secrets: WatchSecrets | undefined,
  deps: DeliverDeps,
): Target | undefined {
  const isSame = ({ former_id: id }: { former_id: string }) => id === message.destination_id;
  const former = stored.former_destinations.find(isSame);
  const found = secrets?.former?.find(isSame);
  if (!former || !found) return undefined;
  const { run, run_id, destination_id } = message;
  const destination = { run, run_id, destination_id, fingerprint: '' };
  const { ending, address, destination: settings } = found;
  return {
    destination,
    state: initialDestinationState(destination),
    event: ending,
    refusal: isFormerOver(former, deps.now())
      ? 'the destination was removed more than an hour ago'
      : undefined,
    takeTurn: () => 0,
    keepsState: false,
    holdsBack: false,
    send: async () => {
      const notification = await toNotification(ending, stored, settings, deps);
      const id = `msg_${run_id}_${destination_id}`;
      const current = settings.type === 'mqtt' ? null : notification.current;
      const result = await deps.destinations.send(address, { ...notification, id, current });
      return result.outcome === 'gone' ? { ...result, outcome: 'rejected' } : result;
    },
    former: {
      until: addSeconds(new Date(former.removed_at), rules.formerDestinationSeconds),
      erase: () => eraseFormer(run_id, isSame, deps.runs),
    },
  };
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

function isBeatDue({ last_attempt_at: last }: DestinationState, now: Date): boolean {
  return last === null || isOver(last, rules.heartbeatSeconds, now);
}

/** Returns the log fields of a delivery. */
export function describeDelivery({ run, run_id, destination_id, sequence, event_type }: Delivery) {
  const destination = run === 'job' ? {} : { destination_id };
  return { [`${run}_id`]: run_id, ...destination, event: event_type, sequence };
}
