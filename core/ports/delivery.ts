import type {
  Delivery,
  DeliveryKey,
  DestinationKey,
  DestinationState,
  QueueMessage,
  RunKey,
} from '../records/delivery.ts';
import type { DestinationAddress, DestinationType } from '../records/watch.ts';
import type { NewWatchEvent } from '../records/watch-event.ts';

/**
 * At-least-once queue, first in, first out per message group (`messageGroup`). Drops a message that is sent again
 * within minutes.
 */
export interface DeliveryQueue {
  /** True if the deployment has an event bus, which receives each event beside webhooks and destinations. */
  readonly hasBus?: boolean;
  send(message: QueueMessage): Promise<void>;
}

/**
 * Result of a message. `again`: it stays at the head of its group, invisible for `afterSeconds`. A clock that is set
 * back does not extend a duration.
 */
export type DeliveryOutcome = { kind: 'done' } | { kind: 'again'; afterSeconds: number };

/**
 * Storage of deliveries, and of the states of destinations. They are removed with their run, deliveries after
 * `rules.deliverySeconds` at the latest.
 */
export interface DeliveryStore {
  get(key: DeliveryKey): Promise<Delivery | undefined>;
  put(delivery: Delivery, now: Date): Promise<void>;
  /** Returns at most `limit` deliveries of the run whose event is after `after`, by sequence and destination. */
  list(run: RunKey, after: number, limit: number): Promise<Delivery[]>;
  state(destination: DestinationKey): Promise<DestinationState | undefined>;
  /** Returns the states of all destinations of the run that had an attempt, also of removed ones, by id. */
  states(run: RunKey): Promise<DestinationState[]>;
  /**
   * Replaces the state of a destination by what `change` returns for the stored one, in one step: attempts may run
   * concurrently. `change` may be called again. Returns the new state.
   */
  changeState(
    destination: DestinationKey,
    change: (stored: DestinationState | undefined) => DestinationState,
  ): Promise<DestinationState>;
}

/**
 * Result of an attempt. `status` is `null` without a response; `error` then has the reason, without internal addresses.
 */
export type WebhookResult = {
  status: number | null;
  latencyMs: number;
  error: string | null;
  retryAfter: string | null;
  /**
   * True if the receiver closed the connection during the request, as some do for one that is too large, or did not
   * take a large one in time.
   */
  isBroken?: true;
};

/** Signer of links that replace a key. */
export interface LinkSigner {
  sign(text: string): Promise<string>;
  /** Compares in constant time. */
  verify(text: string, signature: string): Promise<boolean>;
}

/** Signer of webhooks with the secrets of a caller (Standard Webhooks). */
export interface WebhookSigner {
  /** Returns the signature headers of a message. */
  sign(caller: string, messageId: string, time: Date, body: string): Promise<Record<string, string>>;
  /** Returns the signing secret, `whsec_…`, which receivers verify with. */
  secret(caller: string): Promise<string>;
  /** Returns the key of the caller's fingerprints of addresses, which a rotation of the signing secret keeps. */
  fingerprintKey(caller: string): Promise<string>;
}

/** Events that destinations receive: those of the log except `progress`, the test alert and heartbeats. */
export type NotifiedEvent =
  | Exclude<NewWatchEvent, { type: 'progress' }>
  | { type: 'test'; data: { message: string } }
  /** A check that went well, for heartbeats. */
  | { type: 'heartbeat'; data: object };

export type AlertOpened = Extract<NotifiedEvent, { type: 'alert_opened' }>;

/** Event of a watch with everything that a format needs. */
export type Notification = {
  /** Id that all attempts share, so that receivers can detect a repetition. */
  id: string;
  caller: string;
  watchId: string;
  watchName: string;
  labels: readonly string[];
  /** Conditions of the watch, in their order. */
  conditions: readonly { condition_id: string; condition: string }[];
  /** 0 for the test alert. */
  sequence: number;
  timestamp: string;
  /** Stream URL with masked password. */
  sourceUrl: string;
  event: NotifiedEvent;
  /** Further openings that the message is about, for people; absent without any. */
  joined?: readonly AlertOpened[];
  /** State of the watch at the attempt, for destinations that show a state: `null` for a deleted watch. */
  current: { openConditions: readonly string[]; isStreamLost: boolean } | null;
  /**
   * Reads `current` again; `null` also if the destination has been removed or has another address. Absent for test
   * alerts.
   */
  readCurrent?: () => Promise<Notification['current']>;
  /**
   * Evidence as JPEG, of `alert_clip` as MP4; `null` if the event has none, if it has expired, or if the message has no
   * room for it.
   */
  frame: Uint8Array | null;
  /** Signed link to the evidence, without a key; `null` if the event has none. */
  frameUrl: string | null;
  /** True if receivers on the Internet reach `frameUrl`. */
  isPublic: boolean;
  /** True if a webhook contains the frame as base64. */
  includeFrame: boolean;
  /** Zone of the times in messages for people: that of the schedule, else of the service. */
  timeZone: string;
  /** Name of the model that judges; `null` if the message has no verdict. */
  model: string | null;
  /** Page of the console about the event, with a sentence about its address if that may not be reachable. */
  console: { url: string; note: string } | null;
  /** True if the destination has refused the message with its picture. */
  isPictureRefused?: true;
  /** Receipt of the opening that the event belongs to, at a destination that gave one. */
  opening?: string;
};

/** Openings of a watch whose end a destination does not have: alerts by their ids, the stream, and troubles. */
export type OpenSubjects = Pick<Notification, 'watchId' | 'conditions'> & { subjects: readonly string[] };

/**
 * `delivered`: the receiver accepted it; `retry`: a later attempt may succeed; `rejected`: this event never will;
 * `gone`: the destination accepts nothing any more.
 */
export type DestinationOutcome = 'delivered' | 'retry' | 'rejected' | 'gone';

/**
 * `isPictureRefused`: the result of a second request without the picture. `mayBeAccepted`: a rejection that is not
 * sure, so that nothing of the message is sent again. `receipt`: id of the message at the receiver, for later ones that
 * answer it.
 */
export type DestinationResult = WebhookResult & {
  outcome: DestinationOutcome;
  mayBeAccepted?: true;
  isPictureRefused?: true;
  receipt?: string;
};

/**
 * Event for a receiver of Standard Webhooks. `plain`: the same without its picture, which a receiver may refuse; absent
 * without one.
 */
export type Envelope = { caller: string; id: string; body: object; plain?: object };

/** Sends one event to one destination, through the egress guard. Errors of receivers are results, not exceptions. */
export interface Destinations {
  /** Signs an event of a job, or a test event, and sends it to a webhook. */
  sendEnvelope(url: string, envelope: Envelope): Promise<DestinationResult>;
  /** Types that this service delivers to, and whom its e-mail reaches: addresses, or domains such as `@example.com`. */
  readonly offered: { types: readonly DestinationType[]; recipients: readonly string[] };
  send(address: DestinationAddress, notification: Notification): Promise<DestinationResult>;
  /**
   * Ends what stands open at a destination that receives nothing more. Returns why it could not; `null` if nothing is
   * left there.
   */
  end(address: DestinationAddress, open: OpenSubjects): Promise<string | null>;
  /**
   * Returns why this service never delivers to an address, such as a recipient that the operator does not allow; `null`
   * if it may.
   */
  reasonToRefuse(address: Omit<DestinationAddress, 'destination_id'>): string | null;
}

/** Event of a job or of a watch for the event bus of a deployment. Images are links. */
export type BusEvent = {
  /** Id of the event; the same in webhooks and in repetitions. */
  id: string;
  caller: string;
  type: string;
  timestamp: string;
  source_url: string;
  data: Record<string, unknown>;
};

/** Event bus of a deployment, whose rules the operator makes. */
export interface EventBus {
  /** Puts one event on the bus. Throws `TransientError` unless the bus accepted it. */
  put(event: BusEvent): Promise<void>;
}
