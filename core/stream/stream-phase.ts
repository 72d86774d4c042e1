/** Phases are below an hour, which most intervals divide: checks of different intervals then fall together as well. */
const maxPhaseMs = 3_600_000;

/**
 * Returns the phase of a stream: the offset of its checks on the grid of an interval, in milliseconds, a multiple of
 * `stepMs`. It is a hash of the URL without credentials. Checks of one stream fall together and share captures, those
 * of different streams spread over the interval.
 */
export function computeStreamPhase(url: string, sha256: (text: string) => string, stepMs: number): number {
  const hash = Number.parseInt(sha256(withoutCredentials(url)).slice(0, 12), 16);
  const phase = hash % maxPhaseMs;
  return phase - (phase % stepMs);
}

/** A stored hash of a short password would disclose it. */
function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}
