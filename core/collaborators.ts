import type { CompareMotion } from './motion.ts';
import type { DeliveryQueue, DeliveryStore, WebhookSender, WebhookSigner } from './ports/delivery.ts';
import type { Executions } from './ports/executions.ts';
import type { JobStore } from './ports/job-store.ts';
import type { Log } from './ports/log.ts';
import type { MediaStore } from './ports/media-store.ts';
import type { StreamCapturer } from './ports/stream-capturer.ts';
import type { UrlGuard } from './ports/url-guard.ts';
import type { VisionModel } from './ports/vision-model.ts';

/** Limits that an operator sets. */
export type Limits = {
  jobsPerCaller: number;
  /** The server cap on a job's duration. */
  maxJobSeconds: number;
  /** How long a finished job can be read. */
  retentionSeconds: number;
  /** How long one capture may take. */
  captureTimeoutSeconds: number;
  /** How long the model may take for one look. */
  visionTimeoutSeconds: number;
};

/** All that the operations work with; each takes the part it needs. */
export type Collaborators = {
  jobs: JobStore;
  media: MediaStore;
  streams: StreamCapturer;
  urls: UrlGuard;
  vision: VisionModel;
  compareMotion: CompareMotion;
  executions: Executions;
  queue: DeliveryQueue;
  deliveries: DeliveryStore;
  webhooks: WebhookSender;
  signer: WebhookSigner;
  log: Log;
  limits: Limits;
  /** `{host}/api`, for links in events. */
  baseUrl: string;
  now: () => Date;
  newId: () => string;
  /** 0 to below 1. */
  random: () => number;
};
