import type { Delivery, DeliveryMessage } from '../records/delivery.ts';

/** First in, first out for a job; at least once. A message sent twice within minutes arrives once. */
export interface DeliveryQueue {
  send(message: DeliveryMessage): Promise<void>;
}

export interface DeliveryStore {
  get(jobId: string, sequence: number): Promise<Delivery | undefined>;
  put(delivery: Delivery): Promise<void>;
  /** The newest delivery of the job before this sequence. */
  previous(jobId: string, sequence: number): Promise<Delivery | undefined>;
  /** In order of sequence. */
  list(jobId: string): Promise<Delivery[]>;
}

export type WebhookRequest = { url: string; headers: Record<string, string>; body: string };

/** `status` is null where no answer came; `error` then says why, without addresses of the inside. */
export type WebhookResult = {
  status: number | null;
  latencyMs: number;
  error: string | null;
  retryAfter: string | null;
};

/** One HTTP POST through the egress guard: no redirects, 30 s from connect to headers. Never throws for what the receiver does. */
export interface WebhookSender {
  send(request: WebhookRequest): Promise<WebhookResult>;
}

/** Signs with the caller's secret as the Standard Webhooks specification says. */
export interface WebhookSigner {
  sign(caller: string, messageId: string, at: Date, body: string): Promise<Record<string, string>>;
  /** `whsec_…`, for the caller to verify with. */
  secret(caller: string): Promise<string>;
}
