import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { DemoApi } from './api.ts';
import type { Story } from './story.ts';
import type { Envelope } from './webhook-receiver.ts';
import { availableParallelism } from 'node:os';

const triggeredSchema = z.object({ explanation: z.string(), frame_b64: z.string() });

/** Monitor of the demo, with the events from its log and webhooks. */
export class WatchedStream {
  readonly name: string;
  readonly jobId: string;
  alerted = false;
  stopped = false;
  readonly #api: DemoApi;
  readonly #story: Story;
  #after = 0;

  constructor(name: string, jobId: string, api: DemoApi, story: Story) {
    this.name = name;
    this.jobId = jobId;
    this.#api = api;
    this.#story = story;
  }

  /** Prints new `progress` events from the log; webhooks deliver all other events. Returns the number of new events. */
  async readProgress(): Promise<number> {
    const { events, next_after: nextAfter } = await this.#api.events(this.jobId, this.#after);
    this.#after = nextAfter;
    for (const { type, data } of events) {
      if (type === 'progress') this.#story.event(this.name, type, { explanation: data.explanation });
    }
    return events.length;
  }

  /** Handles a webhook event after signature verification. */
  async take(event: Envelope): Promise<void> {
    const source = `webhook, signature verified, sequence ${event.data.sequence}`;
    if (event.type === 'job_stopped') this.stopped = true;
    if (event.type !== 'watch_triggered') return this.#story.event(this.name, event.type, { source });
    const { explanation, frame_b64: frame } = triggeredSchema.parse(event.data);
    this.alerted = true;
    this.#story.event(this.name, event.type, { source, explanation });
    this.#story.say(`      evidence: ${await this.#saveFrame(frame)}`);
  }

  async #saveFrame(base64: string): Promise<string> {
    const file = resolve('.watchpost', `demo-${this.name.toLowerCase()}.jpg`);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, Buffer.from(base64, 'base64'));
    return file;
  }
}

/** Seconds without a check or an event after which the demo ends. */
export const quietSeconds = 60;
/** Seconds after which the demo ends in any case. */
const maxSeconds = 900;
/**
 * Seconds after which the demo says why it waits, and between two such lines. The demo takes 30 s on an idle machine.
 */
const patientSeconds = 45;

type WaitDeps = {
  nowMs: () => number;
  /** Load of the machine in the last minute. */
  load: () => number;
};

/** Wait of the demo for its alerts: as long as checks or events arrive. */
export class DemoWait {
  readonly #deps: WaitDeps;
  readonly #startedMs: number;
  #newsMs: number;
  #saidMs: number;

  constructor(deps: WaitDeps) {
    this.#deps = deps;
    this.#startedMs = deps.nowMs();
    this.#newsMs = this.#startedMs;
    this.#saidMs = this.#startedMs;
  }

  /**
   * Notes the number of new checks and events. Returns true in `ends` after a long silence, and from time to time the
   * reason for the wait.
   */
  next(news: number): { ends: boolean; reason?: string } {
    const nowMs = this.#deps.nowMs();
    if (news > 0) this.#newsMs = nowMs;
    const quiet = (nowMs - this.#newsMs) / 1000;
    const waited = Math.round((nowMs - this.#startedMs) / 1000);
    if (quiet >= quietSeconds || waited >= maxSeconds) return { ends: true };
    if (nowMs - this.#saidMs < patientSeconds * 1000) return { ends: false };
    this.#saidMs = nowMs;
    const cores = availableParallelism();
    const load = this.#deps.load();
    const cause = load > cores ? 'The machine is busy' : 'Checks take long';
    return {
      ends: false,
      reason: `${cause} (load ${load.toFixed(1)} on ${cores} cores). Waiting since ${waited} s, last check ${Math.round(quiet)} s ago.`,
    };
  }
}
