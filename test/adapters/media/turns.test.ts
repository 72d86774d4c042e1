import { expect, test } from 'vitest';
import { createDecodeTurns } from '../../../adapters/embedded/load/limit-decodes.ts';
import { createContactSheets } from '../../../adapters/media/images/contact-sheet.ts';
import { createCutFrame, createDrawBoxes } from '../../../adapters/media/images/draw-boxes.ts';
import type { InTurn } from '../../../adapters/media/ffmpeg/in-turn.ts';
import { jpeg, mp4 } from '../vision/pixel/pictures.ts';

const never = new AbortController().signal;
const ffmpegPath = 'ffmpeg';
const frame = jpeg('color=gray:s=320x180');
const clip = mp4('color=gray:s=320x180:r=10');
const box = { label: 'person', score: 0.7, x: 0.25, y: 0.25, width: 0.5, height: 0.5 };

/** Creates one turn, whose wait ends when the test says so. */
function createTurn() {
  const timers: (() => void)[] = [];
  const setTimer = (fire: () => void) => (timers.push(fire), () => undefined);
  const takeTurn = createDecodeTurns({ max: 1, elapsedMs: () => 0, setTimer, report: () => undefined });
  let turns = 0;
  const inTurn: InTurn = (doWork, signal) => takeTurn(() => ((turns += 1), doWork()), signal);
  const drawBoxes = createDrawBoxes({ ffmpegPath, inTurn });
  const cutFrame = createCutFrame({ ffmpegPath, framesPerSecond: 4, inTurn });
  const sheets = createContactSheets({ ffmpegPath, inTurn });
  return {
    inTurn,
    count: () => turns,
    expire: () => timers.splice(0).forEach((fire) => fire()),
    work: {
      boxes: (signal = never) => drawBoxes(frame, [box], signal),
      frame: (signal = never) => cutFrame(clip, 0, signal),
      sheet: (signal = never) =>
        sheets.make([{ frame, capturedAt: new Date(0) }], { columns: 1, tileWidthPixels: 160 }, signal),
    },
  };
}

const kinds = ['boxes', 'frame', 'sheet'] as const;

test.each(kinds)('ffmpeg makes the %s in one turn, after the turn before', async (kind) => {
  const { inTurn, work, count } = createTurn();
  const held = Promise.withResolvers<void>();
  const holder = inTurn(() => held.promise, never);
  const made = work[kind]();
  await new Promise(setImmediate);
  expect(count()).toBe(1);
  held.resolve();
  const bytes = await made;
  await holder;
  expect(count()).toBe(2);
  expect(bytes).not.toBe(frame);
  expect(Buffer.from(bytes!).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
});

test('boxes are not drawn, no frame is cut, and a contact sheet is tried again later if no turn is free in time', async () => {
  const { inTurn, work, expire } = createTurn();
  void inTurn(() => new Promise(() => undefined), never);
  const made = Promise.allSettled(kinds.map((kind) => work[kind]()));
  expire();
  expect(await made).toEqual([
    { status: 'fulfilled', value: frame },
    { status: 'fulfilled', value: null },
    { status: 'rejected', reason: expect.objectContaining({ name: 'MachineBusyError' }) },
  ]);
  const ended = AbortSignal.abort(new Error('too late'));
  expect([await work.boxes(ended), await work.frame(ended)]).toEqual([frame, null]);
});
