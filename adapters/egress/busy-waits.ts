/**
 * Waits before further attempts. A server answers 503 while it starts, restarts or tears down a stream, and for a
 * maximum of viewers.
 */
export const busyWaitsMs = [500, 2_000] as const;
