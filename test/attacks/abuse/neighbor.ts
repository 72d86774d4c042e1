import { fork } from 'node:child_process';
import { once } from 'node:events';

export type NeighborOptions = { baseUrl: string; key: string; streamUrl: string };

export type Latencies = { calls: number; failed: number; p50Ms: number; p99Ms: number; maxMs: number };

/** Starts a second caller in its own process: it reads its jobs and validates a stream, again and again. */
export function startNeighbor(options: NeighborOptions) {
  const child = fork(new URL('neighbor-process.ts', import.meta.url), [JSON.stringify(options)], {
    execArgv: [],
  });
  return {
    /** Latencies since the last call. */
    read: async (): Promise<Latencies> => {
      child.send('read');
      const [latencies] = await once(child, 'message');
      return latencies;
    },
    stop: () => void child.kill(),
  };
}
