import type { Counted, MeterReading } from '../ports/usage.ts';

/** Addition to one count of the meter. */
type Increment = readonly [count: string, by: number];

const mailPrefix = 'mails_';
const callsPrefix = 'model_calls:';
const errorsPrefix = 'model_errors:';

/** Returns what an occurrence adds to which counts. */
export function toIncrements(counted: Counted): Increment[] {
  switch (counted.kind) {
    case 'model_call':
      return [
        [`${callsPrefix}${counted.provider}`, 1],
        ...(counted.failed ? [[`${errorsPrefix}${counted.provider}`, 1] as const] : []),
      ];
    case 'direct_frame':
      return [['direct_frames', 1]];
    case 'watch_frame':
      return [[counted.skipped ? 'skipped_frames' : 'direct_frames', 1]];
    case 'delivery_attempt':
      return [];
    case 'delivery':
      return [[`${counted.isMail ? mailPrefix : ''}${counted.delivered ? 'delivered' : 'failed'}`, 1]];
    case 'moments_dropped':
      return [['moments_dropped', counted.count]];
    case 'search':
      return [
        ['searches', counted.isNew ? 1 : 0],
        ['search_calls', counted.calls],
        ['search_micro_usd', counted.microUsd],
      ];
  }
}

/** Sums of increments, by their count. */
export type MeterCounts = Map<string, number>;

/** Adds increments to sums, in place. */
export function addIncrements(counts: MeterCounts, increments: Iterable<Increment>): void {
  for (const [name, by] of increments) counts.set(name, (counts.get(name) ?? 0) + by);
}

/** Returns what sums of increments say of a service. */
export function toReading(counts: MeterCounts): Omit<MeterReading, 'startedAt' | 'jobsBefore'> {
  const countFor = (name: string) => counts.get(name) ?? 0;
  const called = [...counts.keys()].filter((name) => name.startsWith(callsPrefix));
  const providers = called.map((name) => name.slice(callsPrefix.length)).toSorted();
  return {
    providers: Object.fromEntries(
      providers.map((provider) => [
        provider,
        { calls: countFor(`${callsPrefix}${provider}`), errors: countFor(`${errorsPrefix}${provider}`) },
      ]),
    ),
    directFrames: countFor('direct_frames'),
    skippedFrames: countFor('skipped_frames'),
    deliveries: { delivered: countFor('delivered'), failed: countFor('failed') },
    mails: { delivered: countFor(`${mailPrefix}delivered`), failed: countFor(`${mailPrefix}failed`) },
    searches: {
      searches: countFor('searches'),
      calls: countFor('search_calls'),
      microUsd: countFor('search_micro_usd'),
    },
    momentsDropped: countFor('moments_dropped'),
  };
}
