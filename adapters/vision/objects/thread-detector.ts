import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { objectClasses } from './classes.ts';
import {
  type Detection,
  DetectorBusyError,
  DetectorError,
  type ObjectDetector,
  type Picture,
} from './detector.ts';
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

type Call = {
  picture: Picture;
  calledMs: number;
  resolve(detections: Detection[]): void;
  reject(error: Error): void;
};

/** Maximum calls that wait, half a minute of work on an idle core. Each holds an image of 0.4 MB. */
const maxWaiting = 256;

export type ThreadDetectorDeps = {
  /** Reports how long each call has waited for its turn, in milliseconds. */
  reportWait?: (waitedMs: number) => void;
};

/**
 * Creates a detector that runs the network in one thread, one image at a time, in the order of the calls. The thread starts with the first
 * image, starts again after a failure, and does not keep the process alive while it waits.
 */
export function createThreadDetector(
  files: NetworkFiles,
  { reportWait }: ThreadDetectorDeps = {},
): ObjectDetector {
  let thread: Worker | undefined;
  let running: { id: number; call: Call } | undefined;
  let lastId = 0;
  /** Calls that wait for their turn. An aborted one leaves without a run. */
  const waiting: Call[] = [];

  function startThread(): Worker {
    const started = new Worker(new URL('network-worker.ts', import.meta.url), { workerData: files });
    const fail = (reason: string) => {
      if (thread !== started) return;
      thread = undefined;
      const error = new DetectorError(
        `The object detector stopped: ${reason}. Run npm ci to repair its packages`,
      );
      for (const call of [running?.call, ...waiting.splice(0)]) call?.reject(error);
      running = undefined;
    };
    started.on('error', (error) => fail(String(error)));
    started.on('exit', (code) => fail(`exit code ${code}`));
    started.on('message', (message: unknown) => {
      const reply = replySchema.parse(message);
      if (reply.id !== running?.id) return;
      const { call } = running;
      running = undefined;
      if ('error' in reply) call.reject(new DetectorError(`The object detector failed: ${reply.error}`));
      else call.resolve(reply.detections);
      runNext();
    });
    return started;
  }

  function runNext(): void {
    if (running !== undefined) return;
    const call = waiting.shift();
    if (call === undefined) {
      thread?.unref();
      return;
    }
    thread ??= startThread();
    thread.ref();
    reportWait?.(performance.now() - call.calledMs);
    lastId += 1;
    running = { id: lastId, call };
    thread.postMessage({ id: lastId, ...call.picture });
  }

  return {
    inputSize: nearestInputSize,

    async detect(picture, signal) {
      signal.throwIfAborted();
      if (waiting.length >= maxWaiting)
        throw new DetectorBusyError(`${maxWaiting} images wait for the detector`);
      const { promise, resolve, reject } = Promise.withResolvers<Detection[]>();
      const call: Call = { picture, calledMs: performance.now(), resolve, reject };
      const abort = () => {
        const at = waiting.indexOf(call);
        if (at >= 0) waiting.splice(at, 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      waiting.push(call);
      runNext();
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },

    async close() {
      await thread?.terminate();
    },
  };
}
