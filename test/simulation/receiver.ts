import type { Random } from './random.ts';

/** Event of a watch that destinations may receive. */
export type ToldEvent = {
  sequence: number;
  type: string;
  alertId: string | null;
  severity: string | null;
  /** Reason of a changed watch. */
  reason: string | null;
  /** Destination that the event reports as failing. */
  failing: string | null;
};

/** Acceptance of an event. It is settled if the service has stored it: then the event must not arrive again. */
type Accepted = { isSettled: boolean; times: number };
type Behavior = 'ok' | 'error' | 'silent' | 'busy' | 'reply_lost';

/** Random receiver of a destination. Throws if an event is lost, doubled, invented or out of order. */
export class Receiver {
  readonly url: string;
  /** Accepted events by sequence, in the order of their first acceptance. */
  readonly accepted = new Map<number, Accepted>();
  calm = false;
  /** Failed attempts since the last one whose success the service has stored. */
  failures = 0;
  private readonly random: Random;
  private readonly wants: (event: ToldEvent) => boolean;
  private behavior: { name: Behavior; until: number } = { name: 'ok', until: 0 };
  /** Events that the watch has committed, and that this receiver wants, by sequence. */
  private readonly wanted = new Map<number, ToldEvent>();

  /** Failed attempts of each event; attempts of jobs end after four. */
  private readonly refused = new Map<number, number>();
  private readonly maxRefusals: number;

  constructor(url: string, random: Random, wants: (event: ToldEvent) => boolean, maxRefusals = Infinity) {
    this.url = url;
    this.random = random;
    this.wants = wants;
    this.maxRefusals = maxRefusals;
  }

  /** Records an event of the log. */
  expect(event: ToldEvent): void {
    if (this.wants(event)) this.wanted.set(event.sequence, event);
  }

  /** `sequence`: event of the request, if it names one. */
  respond(now: number, sequence = 0): { behavior: Behavior; latencyMs: number } {
    if (!this.calm && now >= this.behavior.until) {
      const name = this.behavior.name === 'ok' ? this.random.pick(bad) : 'ok';
      const hours = name === 'ok' ? this.random.integer(1, 40) : this.random.pick([0.05, 0.5, 3]);
      this.behavior = { name, until: now + hours * 3_600_000 };
    }
    const refused = this.refused.get(sequence) ?? 0;
    const isPatient = !this.calm && refused < this.maxRefusals;
    const behavior = !isPatient
      ? 'ok'
      : this.random.chance(0.02)
        ? this.random.pick(bad)
        : this.behavior.name;
    if (behavior !== 'ok') {
      this.failures += 1;
      this.refused.set(sequence, refused + 1);
    }
    return { behavior, latencyMs: behavior === 'silent' ? 30_000 : this.random.integer(20, 3000) };
  }

  /** Accepts an event. Returns a function that settles the acceptance. */
  accept(sequence: number): () => void {
    const event = this.wanted.get(sequence);
    if (event === undefined)
      throw new Error(`${this.url} was told the event ${sequence}, which it does not want`);
    const before = this.accepted.get(sequence);
    if (before?.isSettled) throw new Error(`${this.url} was told the event ${sequence} twice`);
    if (!before && event.alertId !== null) this.requireOrder(event);
    const accepted = before ?? { isSettled: false, times: 0 };
    accepted.times += 1;
    if (accepted.times > maxTimes) throw new Error(`${this.url} was told the event ${sequence} too often`);
    this.accepted.set(sequence, accepted);
    return () => {
      accepted.isSettled = true;
      this.failures = 0;
    };
  }

  /** Throws if an event was never accepted. */
  requireAll(): void {
    for (const { sequence, type } of this.wanted.values())
      if (!this.accepted.has(sequence))
        throw new Error(`${this.url} was never told the event ${sequence}, ${type}`);
  }

  /** Returns the event of an alert with a type, in the order of the log. */
  findSequence(alertId: string, type: string): number {
    const found = [...this.wanted.values()].find((event) => event.alertId === alertId && event.type === type);
    if (found === undefined)
      throw new Error(`${this.url} was told ${type} of ${alertId}, which was not committed`);
    return found.sequence;
  }

  private requireOrder({ alertId, sequence }: ToldEvent): void {
    for (const other of this.wanted.values()) {
      if (other.alertId !== alertId || other.sequence === sequence) continue;
      if (other.sequence < sequence !== this.accepted.has(other.sequence))
        throw new Error(
          `${this.url} was told ${sequence} of the alert ${alertId} out of order with ${other.sequence}`,
        );
    }
  }
}

/** Replies are lost, and results cannot be stored, for hours; the waits between attempts grow. */
const maxTimes = 40;

const bad = ['error', 'silent', 'busy', 'reply_lost'] as const;
