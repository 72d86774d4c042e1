import { clockTime, exactTime, spokenTime, useNow } from './format.ts';

/**
 * Shows a past time as time of day and a future one as what is left, with the exact time in the tooltip and in
 * `datetime`.
 */
export function When({ at }: { at: string }) {
  const near = Math.abs(Date.parse(at) - Date.now()) < 60_000;
  const now = useNow(near ? 1_000 : 15_000);
  return (
    <time dateTime={at} title={exactTime(at)}>
      {spokenTime(at, now)}
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
