import type { Received } from '../support/servers/receiver.ts';

/** Event of a log, as the API returns it. */
export type LoggedEvent = {
  type: string;
  timestamp: string;
  data: Record<string, any> & { sequence: number };
};

export type LogCheck = {
  problems: string[];
  events: number;
  openings: number;
  deliveries: number;
  /** Deliveries of an event that the receiver had accepted already, as after a kill. */
  repeated: number;
  watchedSeconds: number;
  gapSeconds: number;
};

type Call = (method: string, path: string) => Promise<Record<string, any>>;

/** Reads a whole log, page by page. */
export async function readLog(path: string, call: Call): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for (let after = 0; ;) {
    const page = await call('GET', `${path}/events?limit=1000&after=${after}`);
    events.push(...page['events']);
    if (page['has_more'] !== true) return events;
    after = page['next_after'];
  }
}

/** Compares the log of a watch with what its destination received, and with its statistics. */
export function checkWatch(
  log: readonly LoggedEvent[],
  received: readonly Received[],
  stats: Record<string, any>,
): LogCheck {
  const check = checkDeliveries(log, received);
  const { problems } = check;
  const open = new Map<string, string>();
  const used = new Set<string>();
  for (const { type, data } of log) {
    const { alert_id: alertId, condition_id: conditionId, sequence } = data;
    if (type === 'alert_opened') {
      if (used.has(alertId)) problems.push(`the alert of event ${sequence} opened twice`);
      if ([...open.values()].includes(conditionId))
        problems.push(`event ${sequence} opens ${conditionId}, which is open`);
      used.add(alertId);
      open.set(alertId, conditionId);
      check.openings += 1;
    } else if (type === 'alert_closed' && !open.delete(alertId))
      problems.push(`event ${sequence} closes no open alert`);
  }
  if (open.size > 0) problems.push('an alert is open after the pause');
  const ticks = log.filter(({ type }) => type === 'progress');
  const numbers = ticks.map(({ data }) => data['check']);
  if (numbers.some((number, index) => number !== index + 1)) problems.push('a check is missing or doubled');
  const { watched, gap } = computeCoverage(log);
  const share = watched / (watched + gap);
  const stated: number | null = stats['total'].coverage;
  if (Math.abs(share - (stated ?? share)) > 0.01)
    problems.push(`coverage is ${stated}, and ${share} by the log`);
  return { ...check, watchedSeconds: watched, gapSeconds: gap };
}

/** Compares the log of a job with what its webhook received. */
export function checkJob(log: readonly LoggedEvent[], received: readonly Received[]): LogCheck {
  const check = checkDeliveries(log, received);
  check.openings = log.filter(({ type }) => type === 'watch_triggered').length;
  if (log.at(-1)?.type !== 'job_stopped') check.problems.push('the job has not stopped');
  if (log.filter(({ type }) => type === 'job_started').length !== 1)
    check.problems.push('the job has not started once');
  return check;
}

/** Returns true for events that the only receiver gets: no checks, and not the news that the receiver itself fails. */
export function isExpected({ type, data }: LoggedEvent): boolean {
  return type !== 'progress' && data['reason'] !== 'destination_failed';
}

function checkDeliveries(log: readonly LoggedEvent[], received: readonly Received[]): LogCheck {
  const problems: string[] = [];
  if (log.some(({ data }, index) => data.sequence !== index + 1)) problems.push('the log has a gap');
  const accepted = received.filter(({ status }) => status === 204);
  const idBySequence = new Map<number, string>();
  const first: number[] = [];
  for (const { id, data, verified } of accepted) {
    if (!verified) problems.push(`the signature of event ${data.sequence} is wrong`);
    const known = idBySequence.get(data.sequence);
    if (known === undefined) first.push(data.sequence);
    else if (known !== id) problems.push(`event ${data.sequence} arrived with two ids`);
    idBySequence.set(data.sequence, id);
  }
  for (const { type, timestamp, data } of log.filter(isExpected)) {
    if (idBySequence.has(data.sequence)) continue;
    const refused = received.filter((attempt) => attempt.data.sequence === data.sequence);
    const attempts = refused.map(({ at }) => new Date(at).toISOString()).join(', ') || 'none';
    problems.push(
      `event ${data.sequence}, ${type} of ${timestamp}, never arrived; refused attempts: ${attempts}`,
    );
  }
  const known = new Map(log.map((event) => [event.data.sequence, event]));
  const alerts = new Map<string, number>();
  for (const sequence of first) {
    const alertId = known.get(sequence)?.data['alert_id'];
    if (!known.has(sequence)) problems.push(`event ${sequence} arrived and is not in the log`);
    if (alertId === undefined) continue;
    if ((alerts.get(alertId) ?? 0) > sequence) problems.push(`event ${sequence} arrived out of order`);
    alerts.set(alertId, sequence);
  }
  return {
    problems,
    events: log.length,
    openings: 0,
    deliveries: first.length,
    repeated: accepted.length - first.length,
    watchedSeconds: 0,
    gapSeconds: 0,
  };
}

/**
 * Returns the seconds with and without sight, by the checks in the log: the time between two checks that saw the
 * stream, unless they are far apart.
 */
function computeCoverage(log: readonly LoggedEvent[]): { watched: number; gap: number } {
  let [watched, gap] = [0, 0];
  let last: { at: number; isSeen: boolean } | undefined;
  for (const event of log) {
    const isPause = event.type === 'watch_changed' && event.data['reason'] === 'paused';
    const isSeen = isPause ? last?.isSeen : sees(event);
    if (isSeen === undefined) continue;
    const at = Date.parse(event.timestamp) / 1000;
    const seconds = last === undefined ? 0 : at - last.at;
    if (last?.isSeen && isSeen && seconds <= maxSeconds) watched += seconds;
    else gap += seconds;
    last = { at, isSeen };
  }
  return { watched, gap };
}

/** Twice the interval of the watches, and half a minute. */
const maxSeconds = 40;

/** Returns undefined for a repeated frame, which proves nothing, and for events that are no checks. */
function sees({ type, data }: LoggedEvent): boolean | undefined {
  if (type !== 'progress') return undefined;
  if (data['stream'] === 'ok' && data['picture'] === 'repeated') return undefined;
  if (data['prefilter_skipped'] === true) return data['picture'] === 'ok';
  return data['conditions'].some(({ triggered }: { triggered: boolean | null }) => triggered !== null);
}
