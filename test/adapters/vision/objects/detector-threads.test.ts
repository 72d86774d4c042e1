import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createThreadDetector } from '../../../../adapters/vision/objects/thread-detector.ts';

const never = new AbortController().signal;
const picture = () => ({ width: 2, height: 1, rgb: new Uint8Array(6) });

/** Thread that replies by hand. */
class FakeThread extends EventEmitter {
  readonly ids: number[] = [];
  isReferenced = true;
  isTerminated = false;
  readonly warmUp: unknown;

  constructor(warmUp: unknown) {
    super();
    this.warmUp = warmUp;
  }

  postMessage({ id }: { id: number }): void {
    this.ids.push(id);
  }

  ref(): void {
    this.isReferenced = true;
  }

  unref(): void {
    this.isReferenced = false;
  }

  async terminate(): Promise<number> {
    this.isTerminated = true;
    this.emit('exit', 1);
    return 1;
  }

  getReady(): void {
    this.emit('message', { ready: true });
  }

  async reply(): Promise<void> {
    this.emit('message', { id: this.ids.at(-1), detections: [] });
    await Promise.resolve();
  }
}

function detectorWithThreads(maxThreads: number) {
  const threads: FakeThread[] = [];
  const timers: (() => void)[] = [];
  const detector = createThreadDetector(
    { graph: '', weights: '' },
    {
      maxThreads,
      setTimer: (fire) => {
        timers.push(fire);
        return () => void timers.splice(timers.indexOf(fire), 1);
      },
      startThread: ({ warmUp }) => {
        const thread = new FakeThread(warmUp);
        threads.push(thread);
        return thread as never;
      },
    },
  );
  return { detector, threads, timers };
}

test('a second thread starts while an image waits, and takes images once it is warm', async () => {
  const { detector, threads } = detectorWithThreads(2);
  const calls = [detector.detect(picture(), never)];
  threads[0]?.getReady();
  expect(threads).toHaveLength(1);
  calls.push(detector.detect(picture(), never), detector.detect(picture(), never));
  expect(threads.map(({ warmUp }) => warmUp)).toEqual([null, { width: 2, height: 1 }]);
  expect(threads[1]?.ids).toEqual([]);
  threads[1]?.getReady();
  expect(threads.map(({ ids }) => ids)).toEqual([[1], [2]]);
  await threads[1]?.reply();
  expect(threads.map(({ ids }) => ids)).toEqual([[1], [2, 3]]);
  await threads[0]?.reply();
  await threads[1]?.reply();
  expect(await Promise.all(calls)).toEqual([[], [], []]);
  expect(threads.map(({ isReferenced }) => isReferenced)).toEqual([false, false]);
});

test('one thread is enough for images that come one after the other, and for a machine of one core', async () => {
  const { detector, threads } = detectorWithThreads(2);
  for (let image = 0; image < 2; image += 1) {
    const call = detector.detect(picture(), never);
    if (image === 0) threads[0]?.getReady();
    await threads[0]?.reply();
    await call;
  }
  expect(threads).toHaveLength(1);
  const small = detectorWithThreads(1);
  void small.detector.detect(picture(), never);
  small.threads[0]?.getReady();
  void small.detector.detect(picture(), never);
  expect(small.threads).toHaveLength(1);
});

test('a further thread ends once it was idle, and the first one stays', async () => {
  const { detector, threads, timers } = detectorWithThreads(2);
  const calls = [detector.detect(picture(), never)];
  threads[0]?.getReady();
  calls.push(detector.detect(picture(), never));
  threads[1]?.getReady();
  await threads[0]?.reply();
  await threads[1]?.reply();
  await Promise.all(calls);
  expect(timers).toHaveLength(1);
  timers[0]?.();
  expect(threads.map(({ isTerminated }) => isTerminated)).toEqual([false, true]);
  const later = detector.detect(picture(), never);
  await threads[0]?.reply();
  expect(await later).toEqual([]);
});

test('a further thread that fails is not started again, and its images are the only ones that fail', async () => {
  const { detector, threads } = detectorWithThreads(2);
  const first = detector.detect(picture(), never);
  threads[0]?.getReady();
  const second = detector.detect(picture(), never);
  threads[1]?.getReady();
  const third = detector.detect(picture(), never);
  threads[1]?.emit('error', new Error('out of memory'));
  await expect(second).rejects.toThrow('out of memory');
  await threads[0]?.reply();
  await threads[0]?.reply();
  expect(await Promise.all([first, third])).toEqual([[], []]);
  void detector.detect(picture(), never);
  void detector.detect(picture(), never);
  expect(threads).toHaveLength(2);
});
