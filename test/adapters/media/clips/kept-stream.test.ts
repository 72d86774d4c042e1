import { expect, test } from 'vitest';
import { limitJoins } from '../../../../adapters/embedded/load/limit-decodes.ts';
import type { FilmInput } from '../../../../adapters/media/clips/join-clip.ts';
import { computeKeepSeconds, createKeptStreams } from '../../../../adapters/media/clips/kept-stream.ts';
import type { KeptPart } from '../../../../adapters/media/clips/kept-stream.ts';
import { readClip } from '../../../../adapters/media/clips/read-clip.ts';
import { MachineBusyError } from '../../../../core/errors.ts';
import { addSeconds } from '../../../../core/time.ts';

const begin = new Date('2026-11-20T12:00:00Z');
const never = new AbortController().signal;

function part(second: number, keepSeconds = computeKeepSeconds(8)): KeptPart {
  const startMs = addSeconds(begin, second).getTime();
  const film = { isBreak: false, format: 'mpegts', initialization: null, bytes: new Uint8Array(4) } as const;
  return { id: `${second}`, place: BigInt(second / 2), startMs, endMs: startMs + 2000, ...film, keepSeconds };
}

function openMemory() {
  const clock = { now: begin };
  const kept = createKeptStreams({ maxBytes: 1_000_000, now: () => clock.now });
  const ids = (caller = 'ada') => kept.list(caller, 'gate').map(({ id }) => id);
  const pass = (seconds: number) => (clock.now = addSeconds(clock.now, seconds));
  return { kept, ids, pass, now: () => clock.now };
}

test('a purge removes what no clip needs any more, without a further part', () => {
  const { kept, ids, pass } = openMemory();
  for (const second of [0, 2]) kept.add('ada', 'gate', part(second));
  pass(45);
  kept.purge();
  expect(ids()).toEqual(['0', '2']);
  pass(1);
  kept.purge();
  expect(ids()).toEqual(['2']);
});

test('an added part removes those of its own stream that are over, and the oldest one of the caller with the most if it does not fit', () => {
  const { kept, ids, pass } = openMemory();
  const large = (second: number) => ({ ...part(second), bytes: new Uint8Array(300_000) });
  for (const second of [0, 2, 4]) kept.add('ada', 'gate', large(second));
  kept.add('bob', 'gate', large(4));
  expect([ids(), ids('bob')]).toEqual([['2', '4'], ['4']]);
  kept.add('ada', 'gate', { ...part(6), bytes: new Uint8Array(2_000_000) });
  expect([ids(), ids('bob')]).toEqual([['2', '4'], ['4']]);
  pass(50);
  kept.add('ada', 'gate', part(48));
  expect([ids(), ids('bob')]).toEqual([['48'], ['4']]);
});

test('an erased caller leaves no film in memory', () => {
  const { kept, ids } = openMemory();
  for (const caller of ['ada', 'bob']) kept.add(caller, 'gate', part(0));
  kept.removeCaller('ada');
  expect([ids(), ids('bob')]).toEqual([[], ['0']]);
});

test('the parts of a clip that gets no turn are there when its message is repeated', async () => {
  const { kept, ids, pass, now } = openMemory();
  for (const second of [0, 2, 4]) kept.add('ada', 'gate', part(second));
  pass(40);
  let built = 0;
  const join = async (_film: FilmInput) => {
    pass(30);
    kept.purge();
    throw new MachineBusyError();
  };
  const source = {
    stream: 'gate',
    waitSeconds: 3,
    toChunks: () => [new Uint8Array((built += 1))],
    trim: (parts: KeptPart[]) => parts,
  };
  const [from, openedAt, to] = [0, 3, 6].map((second) => addSeconds(begin, second)) as [Date, Date, Date];
  const span = { from, openedAt, to, store: async () => undefined };
  const request = { url: '', caller: 'ada', mode: 'frames', regions: null, ...span } as const;
  await expect(readClip({ kept, join, now }, source, request, never)).rejects.toThrow(MachineBusyError);
  expect(built, 'bytes of a film that has no turn').toBe(0);
  pass(150);
  kept.purge();
  expect(ids()).toEqual(['0', '2', '4']);
  pass(31);
  kept.purge();
  expect(ids()).toEqual([]);
});

test('a service joins at most two clips at a time, and one of a caller', async () => {
  let caller = '';
  const inJoin = limitJoins({
    currentCaller: () => caller,
    elapsedMs: () => 0,
    setTimer: () => () => undefined,
  });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const joins = ['ada', 'ada', 'bob', 'cem'].map(async (name) => {
    caller = name;
    await inJoin(async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    }, never);
  });
  await new Promise(setImmediate);
  expect(begun).toEqual(['ada', 'bob']);
  while (begun.length < joins.length || ends.length > 0) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  await Promise.all(joins);
  expect(begun.toSorted()).toEqual(['ada', 'ada', 'bob', 'cem']);
});
