/** Calls `fire` once after the delay; the function that comes back takes that back. */
export type SetTimer = (fire: () => void, delayMs: number) => () => void;

export const setSystemTimer: SetTimer = (fire, delayMs) => {
  const timer = setTimeout(fire, delayMs);
  return () => clearTimeout(timer);
};
