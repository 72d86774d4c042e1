import { expect, test } from 'vitest';
import type { Detection, Picture } from '../../../../adapters/vision/objects/detector.ts';
import { shareDetections } from '../../../../adapters/vision/objects/share-detections.ts';

const found: Detection[] = [{ object: 'person', score: 0.9, box: { x: 0, y: 0, width: 1, height: 1 } }];
const picture = (): Picture => ({ width: 2, height: 1, rgb: new Uint8Array(6) });
const never = new AbortController().signal;

/** Detector whose calls end by hand. */
function manualDetector() {
  const calls: { signal: AbortSignal; end: () => void; fail: (error: Error) => void }[] = [];
  const detector = shareDetections({
    inputSize: (size) => size,
    detect: async (_, signal) => {
      const result = Promise.withResolvers<Detection[]>();
      calls.push({ signal, end: () => result.resolve(found), fail: result.reject });
      return result.promise;
    },
    close: async () => undefined,
  });
  return { detector, calls };
}

test('the network runs once for an image that several checks judge, concurrently or later', async () => {
  const { detector, calls } = manualDetector();
  const shared = picture();
  const waiting = [detector.detect(shared, never), detector.detect({ ...shared }, never)];
  calls[0]?.end();
  expect(await Promise.all(waiting)).toEqual([found, found]);
  expect(await detector.detect(shared, never)).toEqual(found);
  expect(calls).toHaveLength(1);
});

test('a failed or abandoned detection is not kept for the next check', async () => {
  const { detector, calls } = manualDetector();
  const shared = picture();
  const failing = detector.detect(shared, never);
  calls[0]?.fail(new Error('stopped'));
  await expect(failing).rejects.toThrow('stopped');
  const leaving = new AbortController();
  const abandoned = detector.detect(shared, leaving.signal);
  leaving.abort(new Error('cancelled'));
  await expect(abandoned).rejects.toThrow('cancelled');
  expect(calls[1]?.signal.aborted).toBe(true);
  const again = detector.detect(shared, never);
  calls[2]?.end();
  expect(await again).toEqual(found);
});
