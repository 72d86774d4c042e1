import { setTimeout as sleep } from 'node:timers/promises';
import { readProcessorTimes } from '../harness.ts';

/** Wall and processor time of a run, in milliseconds. */
export type Measured = {
  wallMs: number;
  nodeMs: number;
  childrenMs: number;
  startedAtMs: number;
  endedAtMs: number;
};

/** Time to settle, in milliseconds: a process that ends and the next one that starts belong to the run. */
const settleMs = 250;

/** Measures the wall time of some work, and the processor time of this process and of its children. */
export async function measure(work: () => Promise<unknown>): Promise<Measured> {
  const before = readProcessorTimes();
  const startedAtMs = Date.now();
  const from = performance.now();
  await work();
  const wallMs = performance.now() - from;
  const endedAtMs = Date.now();
  await sleep(settleMs);
  const after = readProcessorTimes();
  return {
    wallMs,
    nodeMs: after.ownMs - before.ownMs,
    childrenMs: after.childrenMs - before.childrenMs,
    startedAtMs,
    endedAtMs,
  };
}
