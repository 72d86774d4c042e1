import { expect, test } from 'vitest';
import {
  createKeyFrameMemory,
  createKeyFrameStore,
} from '../../../../../adapters/media/rtsp/session/key-frame-store.ts';

/** Stores of several sessions, with key frames of 500 bytes on a clock that the test moves. */
function openStores({ maxBytes = 1e6, sessions = 1 } = {}) {
  let nowMs = 0;
  const memory = createKeyFrameMemory(maxBytes);
  const stores = Array.from({ length: sessions }, () => createKeyFrameStore(memory, () => nowMs, 'ada'));
  /** Sends a key frame on each session every `everySeconds`. Its timestamp is its time. */
  const play = (seconds: number, everySeconds = 2) => {
    for (let passed = 0; passed < seconds; passed += everySeconds) {
      nowMs += everySeconds * 1000;
      for (const store of stores)
        store.add({
          bytes: new Uint8Array(500),
          isKeyFrame: true,
          timestamp: nowMs / 1000,
          arrivedMs: nowMs,
        });
    }
  };
  const scan = (since: number | null, session = 0) => {
    stores[session]!.begin(undefined);
    const { units, groups, ...found } = stores[session]!.since(since);
    expect(groups).toEqual([]);
    return { ...found, times: units.map(({ timestamp }) => timestamp) };
  };
  return { play, scan, memory, stores };
}

test('a session keeps key frames from the first scan on, and each scan has those since its position', () => {
  const { play, scan, memory } = openStores();
  play(10);
  expect(memory.bytes()).toBe(0);
  const first = scan(null);
  expect(first).toEqual({ newest: 5, isWhole: false, times: [] });
  play(10);
  const second = scan(first.newest);
  expect(second).toEqual({ newest: 10, isWhole: true, times: [12, 14, 16, 18, 20] });
  play(4);
  expect(scan(second.newest)).toEqual({ newest: 12, isWhole: true, times: [22, 24] });
  // Another job with its own position.
  expect(scan(first.newest)).toMatchObject({ isWhole: true, times: [12, 14, 16, 18, 20, 22, 24] });
});

test('the oldest key frames of all sessions are dropped above their memory, and the scans are not whole', () => {
  const { play, scan, memory, stores } = openStores({ maxBytes: 6 * 1012, sessions: 2 });
  for (const store of stores) store.begin(undefined);
  play(20);
  expect(memory.bytes()).toBeLessThanOrEqual(6 * 1012);
  for (const session of [0, 1])
    expect(scan(0, session)).toEqual({ newest: 10, isWhole: false, times: [16, 18, 20] });
  expect(scan(7)).toMatchObject({ isWhole: true, times: [16, 18, 20] });
  for (const store of stores) store.clear();
  expect(memory.bytes()).toBe(0);
});

test('a session keeps what the scans of the last minute needed', () => {
  const { play, scan, memory } = openStores();
  let { newest } = scan(null);
  for (let tick = 0; tick < 12; tick += 1) {
    play(10);
    const found = scan(newest);
    expect(found).toMatchObject({ isWhole: true });
    expect(found.times).toHaveLength(5);
    ({ newest } = found);
  }
  expect(memory.bytes()).toBeLessThanOrEqual(8 * 1012);
});

test('a session that is scanned each minute has whole scans, also if a check is late', () => {
  const { play, scan, memory } = openStores();
  let { newest } = scan(null);
  for (const seconds of [60, 60, 68, 60]) {
    play(seconds);
    const found = scan(newest);
    expect(found).toMatchObject({ isWhole: true });
    expect(found.times).toHaveLength(seconds / 2);
    ({ newest } = found);
  }
  expect(memory.bytes()).toBeLessThanOrEqual(36 * 1012);
});

test('a session that is not scanned for a minute keeps no key frame, and its next scan is not whole', () => {
  const { play, scan, memory } = openStores();
  const { newest } = scan(null);
  play(80);
  expect(memory.bytes()).toBe(0);
  expect(scan(newest)).toMatchObject({ isWhole: false, times: [] });
});

test('a camera that sends nothing but key frames has one of each second kept', () => {
  const { play, scan } = openStores();
  scan(null);
  play(5, 0.1);
  expect(scan(0).times).toHaveLength(6);
});

/** Ends groups of ten frames of 500 bytes, one each second, in stores of two sessions whose memory is shared. */
function openSparse(maxBytes: number, groupFrames = 10) {
  let nowMs = 0;
  const memory = createKeyFrameMemory(maxBytes);
  const stores = [1, 2].map(() => createKeyFrameStore(memory, () => nowMs, 'ada'));
  const groups: { isKeyFrame: boolean; arrivedMs: number; bytes: Uint8Array; timestamp: number }[][] = [
    [],
    [],
  ];
  const play = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1000;
      for (const [index, store] of stores.entries()) {
        const isKeyFrame = groups[index]!.length % groupFrames === 0;
        const unit = { bytes: new Uint8Array(500), isKeyFrame, timestamp: nowMs / 1000, arrivedMs: nowMs };
        if (isKeyFrame) store.add(unit, groups[index]);
        groups[index] = isKeyFrame ? [unit] : [...groups[index]!, unit];
      }
    }
  };
  const lengths = (since: number, session = 0) =>
    stores[session]!.since(since).groups.map(({ number, units }) => [number, units.length]);
  return { play, lengths, memory, stores };
}

test('groups of key frames that are far apart are kept whole, from that of the position on', () => {
  const { play, lengths, stores } = openSparse(1e6);
  for (const store of stores) store.begin(undefined);
  play(35);
  expect(lengths(1)).toEqual([
    [1, 10],
    [2, 10],
    [3, 10],
  ]);
  expect(lengths(2)).toEqual([
    [2, 10],
    [3, 10],
  ]);
});

test('groups of key frames that are 4 s apart are not kept, and those of 5 s are', () => {
  for (const [seconds, kept] of [
    [4, 0],
    [5, 3],
  ] as const) {
    const { play, lengths, stores } = openSparse(1e6, seconds);
    for (const store of stores) store.begin(undefined);
    play(18);
    expect(lengths(0)).toHaveLength(kept);
  }
});

test('a group that exceeds the memory is not kept, and key frames take the place of older groups', () => {
  const { play, lengths, memory, stores } = openSparse(14 * 1012);
  for (const store of stores) store.begin(undefined);
  play(15);
  expect([lengths(0), lengths(0, 1)]).toEqual([[[1, 10]], []]);
  play(20);
  expect(memory.bytes()).toBeLessThanOrEqual(14 * 1012);
  for (const store of stores) expect(store.since(0).units).toHaveLength(4);
  for (const store of stores) store.clear();
  expect(memory.bytes()).toBe(0);
});
