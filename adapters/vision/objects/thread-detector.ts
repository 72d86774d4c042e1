import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { objectClasses } from './classes.ts';
import { type Detection, DetectorError, type ObjectDetector } from './detector.ts';
import { nearestInputSize } from './input-size.ts';
import type { NetworkFiles } from './packages.ts';

const share = z.number().min(0).max(1);
const detectionSchema = z.object({
  object: z.enum(objectClasses),
  score: share,
  box: z.object({ x: share, y: share, width: share, height: share }),
});
const replySchema = z.union([
  z.object({ id: z.number(), detections: z.array(detectionSchema) }),
  z.object({ id: z.number(), error: z.string() }),
]);

type Waiting = { resolve(detections: Detection[]): void; reject(error: Error): void };

/**
 * Creates a detector that runs the network in one thread. The thread starts with the first picture, starts again after a
 * failure, and does not keep the process alive while it waits.
 */
export function createThreadDetector(files: NetworkFiles): ObjectDetector {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | undefined;
  let lastId = 0;

  function startThread(): Worker {
    const started = new Worker(new URL('network-worker.ts', import.meta.url), { workerData: files });
    const fail = (reason: string) => {
      if (thread !== started) return;
      thread = undefined;
      for (const { reject } of waiting.values()) {
        reject(
          new DetectorError(`The object detector stopped: ${reason}. Run npm ci to repair its packages.`),
        );
      }
      waiting.clear();
    };
    started.on('error', (error) => fail(String(error)));
    started.on('exit', (code) => fail(`exit code ${code}`));
    started.on('message', (message: unknown) => {
      const reply = replySchema.parse(message);
      const caller = waiting.get(reply.id);
      settle(reply.id);
      if ('error' in reply) caller?.reject(new DetectorError(`The object detector failed: ${reply.error}`));
      else caller?.resolve(reply.detections);
    });
    return started;
  }

  /** Keeps the process alive only while a caller waits. */
  function settle(id: number): void {
    waiting.delete(id);
    if (waiting.size === 0) thread?.unref();
  }

  return {
    inputSize: nearestInputSize,

    async detect({ width, height, rgb }, signal) {
      signal.throwIfAborted();
      const running = (thread ??= startThread());
      running.ref();
      lastId += 1;
      const id = lastId;
      const abort = () => {
        const caller = waiting.get(id);
        settle(id);
        caller?.reject(new DetectorError('The object detector was not done in time'));
      };
      signal.addEventListener('abort', abort, { once: true });
      try {
        return await new Promise<Detection[]>((resolve, reject) => {
          waiting.set(id, { resolve, reject });
          running.postMessage({ id, width, height, rgb });
        });
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },

    async close() {
      const closing = thread;
      await closing?.terminate();
    },
  };
}
