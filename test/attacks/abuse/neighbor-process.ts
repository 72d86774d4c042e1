import { setTimeout as sleep } from 'node:timers/promises';
import type { Latencies, NeighborOptions } from './neighbor.ts';

/**
 * Calls what callers call until its parent says `stop`, and sends the latencies. They separate a slow service from a
 * slow abuser.
 */

const { baseUrl, key, streamUrl }: NeighborOptions = JSON.parse(process.argv[2] ?? '{}');
let latencies: number[] = [];
let failed = 0;

process.on('message', () => {
  process.send?.(summarize());
  [latencies, failed] = [[], 0];
});
void loop(10, 'GET', '/jobs');
void loop(50, 'POST', '/streams/validate', { stream_url: streamUrl });

async function loop(pauseMs: number, method: string, path: string, body?: object): Promise<never> {
  for (;;) {
    const began = performance.now();
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => undefined);
    await response?.arrayBuffer();
    latencies.push(performance.now() - began);
    if (response?.status !== 200) failed += 1;
    await sleep(pauseMs);
  }
}

function summarize(): Latencies {
  const sorted = latencies.toSorted((one, other) => one - other);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return { calls: sorted.length, failed, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
