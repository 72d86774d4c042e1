import { clockTime, exactTime, relativeTime, useNow } from './format.ts';

/** Shows a relative time, with the exact time in the tooltip and in `datetime`. */
export function When({ at }: { at: string }) {
  const near = Math.abs(Date.parse(at) - Date.now()) < 60_000;
  const now = useNow(near ? 1_000 : 15_000);
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at, now)}
    </time>
  );
}

/** Shows the time of day, with the exact time in the tooltip and in `datetime`. */
export function Clock({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {clockTime(at)}
    </time>
  );
}
