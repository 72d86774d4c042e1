import type {
  Delivery,
  DeliveryKey,
  DestinationKey,
  DestinationState,
  QueueMessage,
  RunKey,
} from '../records/delivery.ts';

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
