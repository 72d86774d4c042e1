/** Calls `fire` once after `delayMs`. Returns a function that cancels the timer. */
export type SetTimer = (fire: () => void, delayMs: number) => () => void;

export const setSystemTimer: SetTimer = (fire, delayMs) => {
  const timer = setTimeout(fire, delayMs);
  return () => clearTimeout(timer);
};
