/** Duration of a walk test, in seconds. */
export const walkSeconds = 60;
/** Minimum time from one check to the next, in milliseconds. */
const everyMs = 1_000;

type Deps<Checked> = {
  check: (signal: AbortSignal) => Promise<Checked>;
  onChecked: (checked: Checked) => Promise<void>;
  nowMs: () => number;
  wait: (ms: number) => Promise<void>;
};

/** Checks one picture after the other until the time is over or `signal` aborts. Throws the first error of a check. */
export async function runWalk<Checked>(
  { check, onChecked, nowMs, wait }: Deps<Checked>,
  signal: AbortSignal,
): Promise<void> {
  const endMs = nowMs() + walkSeconds * 1000;
  for (let startMs = nowMs(); !signal.aborted && startMs < endMs; startMs = nowMs()) {
    const checked = await check(signal);
    if (signal.aborted) return;
    await onChecked(checked);
    await wait(Math.max(0, startMs + everyMs - nowMs()));
  }
}
