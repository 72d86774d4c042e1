import { createApi, type Api } from './api.ts';
import { Skipped, type Case, type Need, type Target } from './case.ts';
import { createPool } from './pool.ts';
import { isTerminal } from './jobs.ts';

/** Outcome of a case. */
export type Outcome = {
  id: string;
  title: string;
  covers: string[];
  result: 'passed' | 'failed' | 'skipped';
  /** Reason of a failure or skip. */
  reason: string | undefined;
  /** Reason for which the first of two attempts failed. */
  firstReason?: string | undefined;
  seconds: number;
};

/** Shared inputs of all cases. */
export type Setting = Omit<Target, 'api' | 'other' | 'internal'> & {
  baseUrl: string;
  /** One key per caller. */
  keys: readonly string[];
  internalKey: string | undefined;
  /** Reasons of unmet needs. */
  missing: Partial<Record<Need, string>>;
};

/**
 * Runs cases concurrently, the longest first. Each outcome resolves when its case ends. With `retry`, a case that
 * failed runs once more when all others have ended: beside many streams a slow machine misses times.
 */
export function runCases(
  cases: readonly Case[],
  setting: Setting,
  { casesAtOnce = 24, retry = false } = {},
): Map<string, Promise<Outcome>> {
  const pool = createPool(setting.keys, casesAtOnce);
  const order = cases.toSorted((a, b) => (b.seconds ?? 5) - (a.seconds ?? 5));
  const first = order.map((each) => ({ each, outcome: attempt(each) }));
  return new Map(first.map(({ each, outcome }) => [each.id, retry ? again(each, outcome) : outcome]));

  async function again(each: Case, outcome: Promise<Outcome>): Promise<Outcome> {
    const done = await outcome;
    if (done.result !== 'failed') return done;
    await Promise.all(first.map((other) => other.outcome));
    return { ...(await attempt(each)), firstReason: done.reason };
  }

  async function attempt(each: Case): Promise<Outcome> {
    const unmet = (each.needs ?? []).find((need) => setting.missing[need] !== undefined);
    if (unmet !== undefined) return toOutcome(each, 'skipped', setting.missing[unmet], 0);
    const slots = each.slots ?? 0;
    const caller = await pool.acquire(slots);
    const startedMs = performance.now();
    const seconds = () => (performance.now() - startedMs) / 1000;
    try {
      const otherKey = setting.keys.find((key) => key !== caller.key) ?? '';
      await runOne(each, setting, caller.key, otherKey);
      return toOutcome(each, 'passed', undefined, seconds());
    } catch (error) {
      if (error instanceof Skipped) return toOutcome(each, 'skipped', error.message, seconds());
      return toOutcome(each, 'failed', toMessage(error), seconds());
    } finally {
      pool.release(caller, slots);
    }
  }
}

/**
 * Runs one case within three times its duration plus 30 s, and the time for which rate limits make it wait. Closes its
 * connections and cancels its jobs.
 */
async function runOne(each: Case, setting: Setting, key: string, otherKey: string): Promise<void> {
  const ending = new AbortController();
  const limit = openTimeLimit((each.seconds ?? 5) * 3 + 30);
  const common = { baseUrl: setting.baseUrl, signal: ending.signal, onRateLimit: limit.extend };
  const api = createApi({ ...common, key });
  const other = createApi({ ...common, key: otherKey });
  const always = { 'x-service-internal': 'true' };
  const internal = createApi({ ...common, key: setting.internalKey ?? '', always });
  try {
    await Promise.race([each.run({ ...setting, api, other, internal }), limit.passed]);
  } finally {
    limit.close();
    // An unresponsive service has already failed the case.
    for (const used of [api, other]) await cancelLeftovers(used).catch(() => undefined);
    ending.abort();
  }
}

/** Opens a time limit that can be extended; `passed` rejects at its end. */
function openTimeLimit(seconds: number) {
  const passed = Promise.withResolvers<never>();
  const startedMs = performance.now();
  let limitMs = seconds * 1000;
  const end = (): void => {
    const leftMs = startedMs + limitMs - performance.now();
    if (leftMs > 1) timer = setTimeout(end, leftMs);
    else passed.reject(new Error(`Timeout after ${Math.round(limitMs / 1000)} s`));
  };
  let timer = setTimeout(end, limitMs);
  return {
    passed: passed.promise,
    extend: (ms: number): void => void (limitMs += ms),
    close: (): void => clearTimeout(timer),
  };
}

async function cancelLeftovers(api: Api): Promise<void> {
  for (const jobId of api.created) {
    const { body } = await api.call('GET', `/jobs/${jobId}`);
    if (!isTerminal(body?.status ?? 'stopped')) await api.call('DELETE', `/jobs/${jobId}`);
  }
}

function toOutcome(
  { id, title, covers }: Case,
  result: Outcome['result'],
  reason: string | undefined,
  seconds: number,
): Outcome {
  return { id, title, covers, result, reason, seconds };
}

/** Returns the message with its cause, where `fetch` puts the reason. */
function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`;
}
