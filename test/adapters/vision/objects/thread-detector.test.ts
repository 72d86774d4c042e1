import { afterAll, describe, expect, test } from 'vitest';
import { findNetworkFiles } from '../../../../adapters/vision/objects/packages.ts';
import { DetectorBusyError } from '../../../../adapters/vision/objects/detector.ts';
import { createThreadDetector } from '../../../../adapters/vision/objects/thread-detector.ts';

const files = findNetworkFiles();
const never = new AbortController().signal;
const picture = (gray: number) => ({
  width: 512,
  height: 288,
  rgb: new Uint8Array(512 * 288 * 3).fill(gray),
});

describe('findNetworkFiles', () => {
  test('It finds no files if a package is not installed', () => {
    const missing = (specifier: string) => {
      if (specifier === '@tensorflow/tfjs-converter') throw new Error('not found');
      return import.meta.resolve(specifier);
    };
    expect(findNetworkFiles(missing)).toBeNull();
  });
});

describe.skipIf(files === null)('createThreadDetector', () => {
  const detector = createThreadDetector(files ?? { graph: '', weights: '' });
  afterAll(() => detector.close());

  test('It runs the network in every input size', async () => {
    for (const size of [
      { width: 1600, height: 900 },
      { width: 3, height: 4 },
    ]) {
      const { width, height } = detector.inputSize(size);
      const rgb = new Uint8Array(width * height * 3).fill(90);
      expect(Array.isArray(await detector.detect({ width, height, rgb }, never))).toBe(true);
    }
  });

  test('An aborted call ends, and the next one is served', async () => {
    const abort = new AbortController();
    const aborted = detector.detect(picture(80), abort.signal);
    abort.abort(new Error('cancelled'));
    await expect(aborted).rejects.toThrow('cancelled');
    expect(Array.isArray(await detector.detect(picture(80), never))).toBe(true);
  });

  test('Calls are served in their order, and an aborted one leaves the queue', async () => {
    const order: number[] = [];
    const abort = new AbortController();
    const calls = [60, 70, 80].map(async (gray, at) => {
      await detector.detect(picture(gray), at === 1 ? abort.signal : never).catch(() => undefined);
      order.push(at);
    });
    abort.abort();
    await Promise.all(calls);
    expect(order).toEqual([1, 0, 2]);
  });

  test('It rejects calls beyond a bound, and reports the waits of the others, also of aborted ones', async () => {
    const waits: number[] = [];
    const bounded = createThreadDetector(files ?? { graph: '', weights: '' }, {
      reportWait: (waitedMs) => waits.push(waitedMs),
    });
    const abort = new AbortController();
    const calls = Array.from({ length: 258 }, async () => bounded.detect(picture(90), abort.signal));
    const outcomes = Promise.allSettled(calls);
    await expect(calls[257]).rejects.toBeInstanceOf(DetectorBusyError);
    await calls[0];
    abort.abort(new Error('cancelled'));
    const reasons = (await outcomes).map((each) => (each.status === 'rejected' ? String(each.reason) : ''));
    expect(reasons.filter((reason) => reason.includes('images wait'))).toHaveLength(1);
    expect(waits).toHaveLength(257);
    await bounded.close();
  });

  test('It starts again after it was closed', async () => {
    await detector.close();
    expect(Array.isArray(await detector.detect(picture(100), never))).toBe(true);
  });

  test('Damaged files reject each call with the next step', async () => {
    const damaged = createThreadDetector({ graph: import.meta.filename, weights: import.meta.filename });
    await expect(damaged.detect(picture(0), never)).rejects.toThrow('Run npm ci to repair');
    await expect(damaged.detect(picture(0), never)).rejects.toThrow('Run npm ci to repair');
  });
});
