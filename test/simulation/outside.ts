import type { AsyncLocalStorage } from 'node:async_hooks';
import type { EmbeddedMediaStore } from '../../adapters/embedded/files/media-store.ts';
import { TransientError } from '../../core/errors.ts';
import { readRange } from '../../core/ports/media-store.ts';
import type { WebhookResult } from '../../core/ports/delivery.ts';
import { analyzeInputSchema } from '../../core/records/workflow.ts';
import type { Random } from './random.ts';
import type { Camera } from './camera.ts';
import { CommitContexts } from './commit-contexts.ts';
import type { JobObserver } from './job-observer.ts';
import type { Context, TickContext, WatchObserver } from './observer.ts';
import type { Receiver } from './receiver.ts';
import type { Outside } from './service-process.ts';
import type { TimerOwner, VirtualTime } from './virtual-time.ts';
import { framePictures } from '../../adapters/media/scan/frame-pictures.ts';
import { alwaysLoaded, anyCondition, type VisionModel } from '../../core/ports/vision-model.ts';

const day = 86_400_000;

/** Run that is observed, with its camera. */
type Watched = { observer: WatchObserver | JobObserver; camera: Camera; streamUrl: string };

/** Moment of a tick at which something happens to the machine. */
export type Moment = 'capture' | 'check';

/** World outside of the processes: cameras, model, receivers, and files, which survive a kill. */
export class OutsideWorld {
  readonly watched: Watched[] = [];
  readonly media = new Map<string, { bytes: Uint8Array; at: number }>();
  /** Share of writes that fail because the disk is full. */
  diskFullShare = 0;
  /** Kills and failed writes. */
  disturbances = 0;
  /** Faults of the machine, each at the next moment of its kind. */
  readonly interruptions: { at: Moment; run: () => unknown }[] = [];
  /** First difference from what is expected. */
  failure: unknown;
  private readonly random: Random;
  private readonly time: VirtualTime;
  readonly commits: CommitContexts<Context>;
  private readonly contexts: AsyncLocalStorage<Context>;

  constructor(random: Random, time: VirtualTime, contexts: AsyncLocalStorage<Context>) {
    this.random = random;
    this.time = time;
    this.contexts = contexts;
    this.commits = new CommitContexts(contexts);
  }

  /** Records the first difference. Code under test may catch what is thrown in it. */
  fail(error: unknown): void {
    this.failure ??= error;
  }

  /** Camera, model, receivers and media, which exist outside of the process. */
  of(owner: TimerOwner): Outside {
    const { time, contexts } = this;
    const log = () => undefined;
    return {
      streams: {
        probe: async (url: string) => ({ platform: 'hls' as const, playbackUrl: url }),
        capture: async ({ url, resolveAgain }) => {
          const camera = this.watched.find(({ streamUrl }) => streamUrl === url)?.camera;
          if (!camera) throw new Error(`No camera at ${url}`);
          await this.interrupt('capture');
          await time.wait(owner, this.random.integer(...camera.habits.captureMs));
          return camera.capture(time.nowMs, resolveAgain ?? false);
        },
        ...framePictures,
      },
      vision: this.createModel(owner),
      media: this.createMedia(owner),
      webhooks: { send: (request: { url: string; body?: unknown }) => this.receive(owner, request) },
      runTask: <Result>(input: unknown, task: () => Promise<Result>): Promise<Result> => {
        const parsed = analyzeInputSchema.parse(input);
        if (parsed.operation !== 'analyze') return contexts.exit(task);
        const context: TickContext = {
          kind: 'tick',
          input: parsed,
          asked: undefined,
          alone: [],
          calls: 0,
          failed: false,
          answers: new Map(),
        };
        return contexts.run(context, task);
      },
      recordCommits: (watches) => this.commits.record(watches),
      random: () => this.random.next(),
      newId: () => this.newId(),
      log: { debug: log, info: log, warning: log, error: log },
    };
  }

  private createModel(owner: TimerOwner): VisionModel {
    const judge: VisionModel['judge'] = async (_media, questions) => {
      const context = this.contexts.getStore();
      if (context?.kind !== 'tick') throw new Error('The model was asked without a tick');
      const watched = this.watched.find(({ observer }) => observer.runId === context.input.run_id);
      if (!watched) throw new Error('The model was asked for a run that does not exist');
      const { observer, camera } = watched;
      requireAlive(owner);
      await this.interrupt('check');
      const ids = questions.map(({ condition_id: id }) => id);
      try {
        observer.countCall(ids, context, this.time.nowMs);
      } catch (error) {
        this.fail(error);
      }
      for (const { condition_id: id, condition: text } of questions)
        context.answers.set(id, { text, answer: 'failed' });
      await this.time.wait(owner, this.random.integer(...camera.habits.modelMs));
      const result = judgeOrFail(() => camera.judge(questions, this.time.nowMs), context);
      for (const { condition_id: id, condition: text } of questions) {
        const found = result.verdicts.filter((verdict) => verdict.condition_id === id);
        const triggered = found.length === 1 ? found[0]?.triggered : undefined;
        context.answers.set(id, {
          text,
          answer: triggered === undefined ? 'left_out' : (triggered ?? 'unsure'),
        });
      }
      return { moments: [result.verdicts], tokens: result.tokens };
    };
    return {
      provider: 'fake',
      model: 'fake',
      capabilities: { ...anyCondition, supportsVideo: true },
      lifecycle: alwaysLoaded,
      judge,
      answer: () => Promise.reject(new Error('No question about one frame')),
      words: () => Promise.reject(new Error('No search')),
      matches: () => Promise.reject(new Error('No search')),
      answerAbout: () => Promise.reject(new Error('No question about pictures')),
      summarize: async () => ({
        summary: 'Nothing happened.',
        tokens: { input_tokens: 1, output_tokens: 1 },
      }),
    };
  }

  private createMedia(owner: TimerOwner): EmbeddedMediaStore {
    const { media, time } = this;
    return {
      put: async (key, bytes) => {
        requireAlive(owner);
        if (this.random.chance(this.diskFullShare)) throw new TransientError('The disk is full');
        media.set(key, { bytes, at: time.nowMs });
      },
      get: async (key, range) => readRange(media.get(key)?.bytes, range),
      remove: async (keys) => {
        requireAlive(owner);
        for (const key of keys) media.delete(key);
      },
      removeOfSource: async () => 0,
      trim: async () => ({ removed: 0, evidence: 0, bytes: 0 }),
      sweep: async (olderThan) => {
        for (const [key, { at }] of media) {
          const days = Number(/^evidence\/(\d+)\//.exec(key)?.[1] ?? 0);
          if (at < olderThan.getTime() - days * day) media.delete(key);
        }
        return 0;
      },
    };
  }

  private async receive(
    owner: TimerOwner,
    { url, body }: { url: string; body?: unknown },
  ): Promise<WebhookResult> {
    requireAlive(owner);
    const observer = this.watched.find(({ observer: { receivers } }) =>
      receivers.some((each) => each.url === url),
    );
    const receiver = observer?.observer.receivers.find((each) => each.url === url);
    if (!receiver) throw new Error(`No receiver at ${url}`);
    const parsed: Body = JSON.parse(String(body));
    const { behavior, latencyMs } = receiver.respond(this.time.nowMs, parsed.data?.sequence);
    if (behavior === 'ok' || behavior === 'reply_lost') {
      try {
        const sequence = readSequence(parsed, receiver);
        const settle = sequence === undefined ? () => undefined : receiver.accept(sequence);
        if (behavior === 'ok') this.settleLater(owner, latencyMs, settle);
      } catch (error) {
        this.fail(error);
      }
    }
    await this.time.wait(owner, latencyMs);
    const result = { latencyMs, error: null, retryAfter: null };
    if (behavior === 'ok') return { ...result, status: 202 };
    if (behavior === 'error') return { ...result, status: 503 };
    if (behavior === 'busy') return { ...result, status: 429, retryAfter: '90' };
    return { ...result, status: null, error: 'no answer' };
  }

  private async interrupt(moment: Moment): Promise<void> {
    const next = this.interruptions.findIndex(({ at }) => at === moment);
    if (next >= 0) await this.interruptions.splice(next, 1)[0]?.run();
  }

  /** The service stores the result of an attempt when it has the response, unless it is killed or cannot write. */
  private settleLater(owner: TimerOwner, latencyMs: number, settle: () => void): void {
    const { disturbances } = this;
    this.time.createTimers(owner)(() => {
      if (this.disturbances === disturbances) settle();
    }, latencyMs + 1);
  }

  private newId(): string {
    const hex = Array.from({ length: 32 }, () => this.random.integer(0, 15).toString(16)).join('');
    return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
  }
}

function judgeOrFail<Result>(judge: () => Result, context: TickContext): Result {
  try {
    return judge();
  } catch (error) {
    context.failed = true;
    throw error;
  }
}

export function requireAlive(owner: TimerOwner): void {
  if (owner.isDead) throw new Error('The process was killed');
}

type Body = {
  data?: { sequence: number };
  event_action?: string;
  dedup_key?: string;
  payload?: { custom_details: { sequence: number } };
};

/**
 * Returns the sequence of the event in a request. An acknowledgement or resolution of PagerDuty has the alert only;
 * those of the watch are not followed.
 */
function readSequence(body: Body, receiver: Receiver): number | undefined {
  const isOfWatch = body.dedup_key?.includes(':') && body.event_action === 'resolve';
  if (isOfWatch || body.dedup_key?.endsWith(':stream')) return undefined;
  const sequence = body.data?.sequence ?? body.payload?.custom_details.sequence;
  if (sequence !== undefined) return sequence;
  const type = body.event_action === 'resolve' ? 'alert_closed' : 'alert_acknowledged';
  return receiver.findSequence(body.dedup_key ?? '', type);
}
