import { clockTime, exactTime, relativeTime } from './format.ts';
import { useNow } from './use-now.ts';

/** Relative time, with the exact time in the tooltip and in `datetime`. */
export function When({ at }: { at: string }) {
  const near = Math.abs(Date.parse(at) - Date.now()) < 60_000;
  const now = useNow(near ? 1_000 : 15_000);
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at, now)}
    </time>
  );
}

export function Clock({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {clockTime(at)}
    </time>
  );
}
