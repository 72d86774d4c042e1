import { units, type SourceKind } from '../../../adapters/aws/usage-units.ts';
import type { InputMode } from '../../../core/records/capture.ts';
import type { StageSettings } from '../../stages/stage-settings.ts';

/** Part of the unreserved executions that ticks may use; the rest is for callers, webhooks and peaks. */
const shareOfTicks = 0.5;

/**
 * Returns the executions of `capture` and `analyze` that a stream uses on average, with a capture and a check each
 * interval.
 */
export function executionsPerStream(source: SourceKind, mode: InputMode, intervalSeconds: number) {
  const analyzeSeconds = units.analyze.secondsWithoutModel + units.analyze.modelSeconds[mode];
  return {
    capture: (units.capture.seconds[mode] + units.capture.extraSeconds[source]) / intervalSeconds,
    analyze: analyzeSeconds / intervalSeconds,
  };
}

/**
 * Returns the streams that the executions of an account carry: the least of what each function may use. A reservation
 * is also a ceiling; functions without one share a half of the rest.
 */
export function countStreams(
  limit: number,
  reserved: StageSettings['reservedConcurrency'],
  { source, mode, intervalSeconds }: { source: SourceKind; mode: InputMode; intervalSeconds: number },
): number {
  const needed = executionsPerStream(source, mode, intervalSeconds);
  const functions = ['capture', 'analyze'] as const;
  const rest = shareOfTicks * (limit - sumReserved(reserved));
  const sharing = functions.filter((name) => reserved[name] === undefined);
  const sharedNeed = sharing.reduce((sum, name) => sum + needed[name], 0);
  const ceilings = functions.map((name) => (reserved[name] ?? Infinity) / needed[name]);
  // Rounded first: 100 / 0.3 of a quotient is 333.3, but 3 / 0.1 is 29.99.
  return Math.max(
    0,
    Math.floor(Math.round(10 * Math.min(...ceilings, sharedNeed > 0 ? rest / sharedNeed : Infinity)) / 10),
  );
}

export function sumReserved(reserved: StageSettings['reservedConcurrency']): number {
  return Object.values(reserved).reduce((sum, each) => sum + each, 0);
}
