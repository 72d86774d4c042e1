import { verifyWebhook } from '../../../client/verify-webhook.ts';
import type { Watchpost } from '../../../client/client.ts';
import { hookPath, streamPath } from './helper-template.ts';

/** Result of a step, in the order in which they ran. */
export type SmokeStep = { step: string; ok: boolean; seconds: number; found: string };

/** Webhook request as the helper received it. */
export type ReceivedHook = { headers: Record<string, string>; body: string };

/** Stream and receiver that exist during a smoke test. */
export type Helper = {
  /** URL of the stream and of the receiver, without a trailing slash. */
  url: string;
  /** Returns the requests that have arrived since the last call; waits some seconds for one. */
  receive(signal: AbortSignal): Promise<ReceivedHook[]>;
  /** Holds a synchronous Express execution. Returns its length in seconds; throws if the call ended early. */
  hold(seconds: number, signal: AbortSignal): Promise<number>;
};

/** Key of a caller that exists during a smoke test. */
export type SmokeKey = { text: string; caller: string; id: string };

export type SmokeDeps = {
  /** Returns the base URL of the API. Throws if the stack cannot be read. */
  readBaseUrl(): Promise<string>;
  createHelper(signal: AbortSignal): Promise<Helper>;
  removeHelper(): Promise<void>;
  createKey(): Promise<SmokeKey>;
  /** Removes the caller with all that the service stored for it. */
  removeCaller(client: SmokeClient, key: SmokeKey): Promise<void>;
  connect(baseUrl: string, key: string): SmokeClient;
  /** Returns a monotonic time, in milliseconds. */
  elapsedMs(): number;
  report(step: SmokeStep): void;
};

/** Operations of the typed client that the test uses. */
export type SmokeClient = Pick<
  Watchpost,
  'validateStream' | 'startMonitor' | 'follow' | 'picture' | 'cancelJob' | 'getWebhookSecret'
>;

export type SmokeOptions = {
  /** URL of a live stream; default: the stream of the helper. */
  url?: string | undefined;
  condition: string;
  /** Seconds of the synchronous execution to measure; 0 measures none. */
  holdSeconds: number;
  /** Maximum time from the start of the monitor to its alert, in seconds. */
  timeoutSeconds: number;
};

export type SmokeReport = {
  ok: boolean;
  steps: SmokeStep[];
  /** Things that could not be removed. */
  left: string[];
};

/** Returns the exit code: 1 if a step failed, 3 if all passed but something could not be removed. */
export function toExitCode({ ok, left }: SmokeReport): 0 | 1 | 3 {
  if (!ok) return 1;
  return left.length > 0 ? 3 : 0;
}

/**
 * Tests a deployment from the key to the alert: validates a stream, monitors it, and receives the alert by event stream
 * and by webhook. The first failed step ends the test. Removes all that it made in any case, also if `signal` aborts
 * it.
 */
export async function runSmoke(
  options: SmokeOptions,
  deps: SmokeDeps,
  signal: AbortSignal,
): Promise<SmokeReport> {
  const test = new SmokeTest(options, deps, signal);
  const ok = await test.run().then(
    () => true,
    () => false,
  );
  await test.cleanUp();
  return { ok, steps: test.steps, left: test.left };
}

class SmokeTest {
  readonly steps: SmokeStep[] = [];
  readonly left: string[] = [];
  readonly #options: SmokeOptions;
  readonly #deps: SmokeDeps;
  readonly #signal: AbortSignal;
  readonly #stopHolding = new AbortController();
  /** Result of the measurement, which runs beside the other steps. */
  #held: Promise<boolean> = Promise.resolve(true);
  #triedHelper = false;
  #client: SmokeClient | undefined;
  #key: SmokeKey | undefined;
  #jobId: string | undefined;

  constructor(options: SmokeOptions, deps: SmokeDeps, signal: AbortSignal) {
    this.#options = options;
    this.#deps = deps;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { holdSeconds, timeoutSeconds } = this.#options;
    const baseUrl = await this.#step('stack', async () => {
      const url = await this.#deps.readBaseUrl();
      return [url, `The API is at ${url}.`];
    });
    const helper = await this.#step('helper', async () => {
      this.#triedHelper = true;
      const created = await this.#deps.createHelper(this.#signal);
      return [created, `Stream and receiver are at ${created.url}.`];
    });
    if (holdSeconds > 0) this.#held = this.#hold(helper, holdSeconds);
    const client = await this.#step('key', async () => {
      this.#key = await this.#deps.createKey();
      this.#client = this.#deps.connect(baseUrl, this.#key.text);
      return [this.#client, `Caller ${this.#key.caller} has a key.`];
    });
    const streamUrl = this.#options.url ?? `${helper.url}${streamPath}`;
    await this.#step('validate', async () => {
      const validated = await client.validateStream({ stream_url: streamUrl }, this.#bounded(60));
      if (!validated.is_live)
        throw new Error(`${streamUrl} is not live: ${validated.error_hint ?? 'without a reason'}`);
      return [undefined, `${streamUrl} is live.`];
    });
    const { secret, jobId } = await this.#step('monitor', async () => {
      const started = await this.#startMonitor(client, streamUrl, `${helper.url}${hookPath}`);
      return [started, `Job ${started.jobId} monitors it.`];
    });
    const { signal } = this.#bounded(timeoutSeconds);
    const [followed, received] = await Promise.allSettled([
      this.#step('event stream', () => this.#followToAlert(client, jobId, signal)),
      this.#step('webhook', () => this.#receiveAlert(helper, jobId, secret, signal)),
    ]);
    if (followed.status === 'rejected') throw followed.reason;
    if (received.status === 'rejected') throw received.reason;
    await this.#step('evidence', async () => {
      const frame = await client.picture(jobId, followed.value, this.#bounded(30));
      if (frame[0] !== 0xff || frame[1] !== 0xd8) throw new Error('The frame of the alert is not a JPEG');
      return [undefined, `The frame of the alert has ${frame.length} bytes.`];
    });
    if (!(await this.#held)) throw new Error('The measurement failed');
  }

  async #startMonitor(
    client: SmokeClient,
    streamUrl: string,
    webhookUrl: string,
  ): Promise<{ secret: string; jobId: string }> {
    const { secret } = await client.getWebhookSecret(this.#bounded(30));
    const { job_id: jobId } = await client.startMonitor(
      {
        stream_url: streamUrl,
        condition: this.#options.condition,
        webhook_url: webhookUrl,
        interval_seconds: 5,
        input_mode: 'frames',
        monitor_duration_seconds: this.#options.timeoutSeconds,
      },
      this.#bounded(60),
    );
    this.#jobId = jobId;
    return { secret, jobId };
  }

  /** Removes the job, the caller and the helper. Ignores the abort signal. */
  async cleanUp(): Promise<void> {
    this.#stopHolding.abort(new Error('Not measured to its end'));
    await this.#held;
    const removals: [string, () => Promise<void>][] = [];
    const [client, key, jobId] = [this.#client, this.#key, this.#jobId];
    if (client && key) {
      if (jobId !== undefined)
        // Usually the job has ended with its alert.
        await client.cancelJob(jobId, { signal: AbortSignal.timeout(30_000) }).catch(() => undefined);
      removals.push([`caller ${key.caller}`, () => this.#deps.removeCaller(client, key)]);
    }
    if (this.#triedHelper) removals.push(['helper stack', () => this.#deps.removeHelper()]);
    if (removals.length === 0) return;
    const begin = this.#deps.elapsedMs();
    const causes: string[] = [];
    for (const [name, remove] of removals) {
      await remove().catch((error: unknown) => {
        this.left.push(name);
        causes.push(`${name} remains: ${describe(error)}`);
      });
    }
    const finding =
      causes.length > 0 ? causes.join('; ') : `${removals.map(([name]) => name).join(', ')} removed.`;
    this.#report('removal', causes.length === 0, begin, finding);
  }

  #hold(helper: Helper, seconds: number): Promise<boolean> {
    const signal = AbortSignal.any([this.#signal, this.#stopHolding.signal]);
    return this.#step('burst', async () => {
      const heldSeconds = await helper.hold(seconds, signal);
      return [undefined, `A synchronous Express execution was held for ${heldSeconds} s.`];
    }).then(
      () => true,
      () => false,
    );
  }

  async #followToAlert(client: SmokeClient, jobId: string, signal: AbortSignal): Promise<[number, string]> {
    let count = 0;
    for await (const event of client.follow(jobId, { signal })) {
      count += 1;
      if (event.type === 'watch_triggered') return [event.data.sequence, `Alert as event ${count}.`];
      if (event.type === 'job_stopped')
        throw new Error(`The job ended without an alert: ${event.data.reason}`);
    }
    throw new Error('The event stream ended without an alert');
  }

  async #receiveAlert(
    helper: Helper,
    jobId: string,
    secret: string,
    signal: AbortSignal,
  ): Promise<[undefined, string]> {
    for (let count = 0; ;) {
      signal.throwIfAborted();
      for (const { headers, body } of await helper.receive(signal)) {
        count += 1;
        const { event } = verifyWebhook(secret, headers, body);
        if (event.type === 'watch_triggered' && event.data.job_id === jobId)
          return [undefined, `Alert as request ${count}, with a valid signature.`];
      }
    }
  }

  #bounded(seconds: number): { signal: AbortSignal } {
    return { signal: AbortSignal.any([this.#signal, AbortSignal.timeout(seconds * 1_000)]) };
  }

  async #step<Made>(step: string, run: () => Promise<[Made, string]>): Promise<Made> {
    const begin = this.#deps.elapsedMs();
    try {
      this.#signal.throwIfAborted();
      const [outcome, finding] = await run();
      this.#report(step, true, begin, finding);
      return outcome;
    } catch (error) {
      this.#report(step, false, begin, describe(error));
      throw error;
    }
  }

  #report(step: string, ok: boolean, beginMs: number, finding: string): void {
    const seconds = Math.round((this.#deps.elapsedMs() - beginMs) / 100) / 10;
    const result = { step, ok, seconds, found: finding };
    this.steps.push(result);
    this.#deps.report(result);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
