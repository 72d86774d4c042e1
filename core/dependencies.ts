import type { EvidenceClip } from './records/clip.ts';
import type { CompareMotion } from './records/motion.ts';
import type { CallLimiter, CallerStore, CallerEraser } from './ports/callers.ts';
import type { CallerUsage, Meter } from './ports/usage.ts';
import type {
  ContactSheets,
  CutFrame,
  DrawBoxes,
  StreamCapturer,
  StreamTurns,
} from './ports/stream-capturer.ts';
import type { DeliveryQueue, DeliveryStore, WebhookSigner } from './ports/delivery.ts';
import type { Executions } from './ports/executions.ts';
import type { JobStore, RunStore, WatchStore } from './ports/runs.ts';
import type { Log, RecentLog } from './ports/observability.ts';
import type { MediaStore } from './ports/media-store.ts';
import type { MomentStore } from './ports/moment-store.ts';
import type { Pace } from './ports/pace.ts';
import type { VisionModel, WindowSummarizer } from './ports/vision-model.ts';

export type Limits = {
  jobsPerCaller: number;
  watchesPerCaller: number;
  /** The server cap on a job's duration. */
  maxJobSeconds: number;
  /** Time for which an ended job stays readable, in seconds. */
  retentionSeconds: number;
  /** Time without an answer of the model after which a monitor fails, in seconds. */
  modelGraceSeconds: number;
  /** Maximum duration of one capture, in seconds. */
  captureTimeoutSeconds: number;
  /** Maximum duration of one model call, in seconds. */
  visionTimeoutSeconds: number;
  /**
   * Time from the start of an attempt at a lost camera of a watch to the next, in seconds. Absent on hosts where
   * attempts cost money.
   */
  lostCameraSeconds?: number;
  /** True on hosts that follow streams between checks, so that motion wakes a watch. */
  wakesOnMotion?: true;
  /** Default of `evidence_clip` of a watch. Absent on hosts that make no clips. */
  evidenceClip?: EvidenceClip | null;
  /** Default of `memory_days` of a watch; 0 if absent. */
  memoryDays?: number;
};

/**
 * Dependencies of all operations; each operation takes the part that it needs. Ports are plain objects whose functions
 * do not use `this`: decorators spread them (`{ ...port, method }`).
 */
export type CoreDeps = {
  runs: RunStore;
  jobs: JobStore;
  watches: WatchStore;
  moments: MomentStore;
  media: MediaStore;
  streams: StreamCapturer;
  /** Turns of streams that calls reach; ticks have their own. */
  turns: StreamTurns;
  urls: UrlGuard;
  /** Guard of webhook URLs, with ranges of its own: access to a camera grants no requests to its network. */
  webhookUrls: UrlGuard;
  vision: VisionModel;
  contactSheets: ContactSheets;
  /** Absent on hosts whose models find no boxes. */
  drawBoxes?: DrawBoxes;
  /** Absent like `drawBoxes`. */
  cutFrame?: CutFrame;
  /** Summarizes the last windows of cancelled digests. */
  summaries: WindowSummarizer;
  /** Limiter of the endpoints that reach streams, the model or receivers. */
  calls: CallLimiter;
  compareMotion: CompareMotion;
  executions: Executions;
  pace: Pace;
  queue: DeliveryQueue;
  deliveries: DeliveryStore;
  signer: WebhookSigner;
  callers: CallerStore;
  eraser: CallerEraser;
  meter: Meter;
  usage: CallerUsage;
  log: Log;
  recentLog: RecentLog;
  limits: Limits;
  /** `{host}/api`, for links in events. */
  baseUrl: string;
  now: () => Date;
  newId: () => string;
  /** Phase of a stream (`computeStreamPhase`); `null` keeps the grid that starts with the job. */
  streamPhase: (url: string) => number | null;
  /** 0 to below 1. */
  random: () => number;
};

/**
 * Fast check of a URL in a request: scheme, syntax and literal addresses. The egress guard checks host names on
 * connect.
 */
interface UrlGuard {
  /** Throws `InvalidUrlError`, whose remediation names the field. Default: the field that the guard is for. */
  check(url: string, schemes: readonly string[], field?: string): void;
}
