import { describe, expect, test } from 'vitest';
import { ModelBusyError, TooManyFramesError, VisionError } from '../../../core/vision-errors.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import type { ConditionQuestion } from '../../../core/records/vision.ts';
import type { WatchCondition } from '../../../core/records/watch.ts';
import type { Captured } from '../../../core/sight/screening.ts';
import { askModel, type ConditionAnswer } from '../../../core/tick/ask-model.ts';
import { type MomentMedia, readCheckMedia } from '../../../core/tick/read-media.ts';
import { judgingEach, scriptedModel } from '../../support/scripted-model.ts';

const failedCall = { input_tokens: 0, output_tokens: 0, failed: true };
const at = new Date('2026-03-01T12:00:00.000Z');
const condition: WatchCondition = {
  condition_id: 'gate',
  condition: 'The gate is open.',
  checks_to_open: 2,
  checks_considered: 3,
  checks_to_close: 3,
  close_after_seconds: 0,
  cooldown_seconds: 0,
  remind_seconds: null,
  severity: 'warning',
};

function visionThat(judged: boolean | undefined): VisionModel {
  const tokens = { input_tokens: 0, output_tokens: 0 };
  return scriptedModel({
    judge: judgingEach(async () => ({ triggered: false, explanation: 'It is hidden.', judged, tokens })),
  });
}

test.each([
  { judged: false, verdict: null },
  { judged: undefined, verdict: { triggered: false, explanation: 'It is hidden.' } },
])(
  'an answer with judged $judged is the verdict $verdict: what was not judged never clears an alert',
  async ({ judged, verdict }) => {
    const deps = { vision: visionThat(judged), limits: { visionTimeoutSeconds: 10 } };
    const media = { mode: 'frames' as const, frame: new Uint8Array(), at };
    const { answers } = await askModel({ joint: [], separate: [condition] }, media, deps);
    expect(answers).toMatchObject([{ condition_id: 'gate', verdict }]);
  },
);

test('a call that the model of this machine is too busy for is no failure, costs nothing and leaves no verdict', async () => {
  const vision = {
    ...visionThat(true),
    judge: judgingEach(async () => {
      throw new ModelBusyError();
    }),
  };
  const media = { mode: 'frames' as const, frame: new Uint8Array(), at };
  const deps = { vision, limits: { visionTimeoutSeconds: 10 } };
  expect(await askModel({ joint: [], separate: [condition] }, media, deps)).toEqual({
    answers: [
      { condition_id: 'gate', condition: 'The gate is open.', verdict: null, leftOut: false, joint: false },
    ],
    earlier: [],
    failure: null,
    busy: true,
    calls: [],
  });
});

test('a check that a gate answered has no call', async () => {
  const tokens = { input_tokens: 0, output_tokens: 0 };
  const judge = judgingEach(async () => ({ triggered: true, explanation: 'It is open.', tokens, calls: [] }));
  const vision = { ...visionThat(true), judge };
  const media = { mode: 'frames' as const, frame: new Uint8Array(), at };
  const deps = { vision, limits: { visionTimeoutSeconds: 10 } };
  const judged = await askModel({ joint: [], separate: [condition] }, media, deps);
  expect(judged).toMatchObject({ answers: [{ verdict: { triggered: true } }], calls: [], failure: null });
});

const captured: Captured = {
  kind: 'captured',
  frame_key: 'newest',
  clip_key: null,
  captured_at: at.toISOString(),
  seen: {
    position: { segment: null, segment_seconds: 0 },
    since: at.toISOString(),
    identical_since: null,
    seen_at: at.toISOString(),
  },
  repeated: false,
  moved: true,
  changed_share: 0.2,
  black: false,
  motion_if_judged: '',
  motion_if_skipped: '',
};
const tokens = { input_tokens: 1, output_tokens: 1 };
const car = { condition_id: 'car', condition: 'A car is in the yard.' };
const dog = { condition_id: 'dog', condition: 'A dog is in the yard.' };
const picture = (name: number) => new Uint8Array([name]);
/** A newest frame 4 after the earlier frames 1 to 3, each 5 s after the one before. */
const withMoments = (fields: Partial<MomentMedia> = {}): MomentMedia => ({
  mode: 'frames',
  frame: picture(4),
  at,
  moments: [1, 2, 3].map((name) => ({
    frame: picture(name),
    at: new Date(at.getTime() - (4 - name) * 5000),
    frame_key: `frame-${name}`,
  })),
  ...fields,
});

/** Model that lists its calls as pictures and conditions; a condition holds in the frames of `holds`. */
function recordingVision(
  { canJudgeMoments = false, usesPrevious = false },
  answer: (frames: number[]) => void = () => undefined,
) {
  const calls: string[] = [];
  const verdicts = (frame: Uint8Array, questions: readonly ConditionQuestion[]) =>
    questions.map(({ condition_id }) => ({ condition_id, triggered: frame[0] === 2, explanation: 'So.' }));
  const record = (
    kind: string,
    frames: number[],
    questions: readonly ConditionQuestion[],
    previous?: Uint8Array,
  ) => {
    const ids = questions.map(({ condition_id: id }) => id).join(' ');
    calls.push(`${kind} ${frames.join(' ')}${previous ? ` after ${previous[0]}` : ''}: ${ids}`);
    answer(frames);
  };
  const vision = scriptedModel({
    capabilities: { judgesMoments: canJudgeMoments, usesPrevious },
    judge: async ({ earlier = [], frame, clip, previous }, questions) => {
      const frames = [...earlier.map((before) => before.frame), frame];
      const kind = clip ? 'clip' : earlier.length > 0 ? 'moments' : 'frame';
      record(
        kind,
        frames.flatMap((bytes) => [...bytes]),
        questions,
        previous,
      );
      return { moments: frames.map((bytes) => verdicts(bytes, questions)), tokens };
    },
  });
  return { calls, vision };
}

const limits = { visionTimeoutSeconds: 10 };
const triggered = (answers: ConditionAnswer[]) => answers.map(({ verdict }) => verdict?.triggered ?? null);

describe('a check of several moments', () => {
  test('all moments are one call of a model that can, and each answer belongs to its frame', async () => {
    const { calls, vision } = recordingVision({ canJudgeMoments: true });
    const judgement = await askModel({ joint: [car, dog], separate: [] }, withMoments(), { vision, limits });
    expect(calls).toEqual(['moments 1 2 3 4: car dog']);
    expect(triggered(judgement.answers)).toEqual([false, false]);
    expect(
      judgement.earlier.map(({ frame_key, captured_at, answers }) => [
        frame_key,
        captured_at,
        triggered(answers),
      ]),
    ).toEqual([
      ['frame-1', '2026-03-01T11:59:45.000Z', [false, false]],
      ['frame-2', '2026-03-01T11:59:50.000Z', [true, true]],
      ['frame-3', '2026-03-01T11:59:55.000Z', [false, false]],
    ]);
    expect(judgement.calls).toEqual([tokens]);
  });

  test('a condition that joint calls have left out has a call of its own, with all moments', async () => {
    const { calls, vision } = recordingVision({ canJudgeMoments: true });
    const { earlier } = await askModel({ joint: [car], separate: [dog] }, withMoments(), { vision, limits });
    expect(calls).toEqual(['moments 1 2 3 4: car', 'moments 1 2 3 4: dog']);
    expect(earlier[1]?.answers.map(({ condition_id: id, joint }) => [id, joint])).toEqual([
      ['car', true],
      ['dog', false],
    ]);
  });

  test('a model without a call for several frames has a call a frame, oldest first', async () => {
    const { calls, vision } = recordingVision({});
    const { earlier, answers } = await askModel({ joint: [car], separate: [] }, withMoments(), {
      vision,
      limits,
    });
    expect(calls).toEqual(['frame 1: car', 'frame 2: car', 'frame 3: car', 'frame 4: car']);
    expect([...earlier, { answers }].map((moment) => triggered(moment.answers))).toEqual([
      [false],
      [true],
      [false],
      [false],
    ]);
  });

  test.each(['clip', 'hybrid'] as const)(
    'mode %s keeps its clip for the newest frame, after one call for the earlier ones',
    async (mode) => {
      const media = withMoments({ mode, clip: picture(9) });
      const joint = recordingVision({ canJudgeMoments: true });
      await askModel({ joint: [car], separate: [] }, media, { vision: joint.vision, limits });
      expect(joint.calls).toEqual(['moments 1 2 3: car', 'clip 4: car']);
      const single = recordingVision({});
      await askModel({ joint: [], separate: [car] }, media, { vision: single.vision, limits });
      expect(single.calls).toEqual(['frame 1: car', 'frame 2: car', 'frame 3: car', 'clip 4: car']);
    },
  );

  test('a capture without earlier moments is asked about as before, also of a model for several frames', async () => {
    const { calls, vision } = recordingVision({ canJudgeMoments: true });
    const questions = { joint: [car], separate: [] };
    const { earlier } = await askModel(questions, withMoments({ moments: [] }), { vision, limits });
    expect({ calls, earlier }).toEqual({ calls: ['frame 4: car'], earlier: [] });
  });

  test.each([true, false])(
    'a black newest frame is not asked about (several in one call: %s)',
    async (several) => {
      const { calls, vision } = recordingVision({ canJudgeMoments: several });
      const media = withMoments({ black: true, mode: 'hybrid', clip: picture(9), previous: picture(0) });
      const { answers, earlier } = await askModel({ joint: [car], separate: [] }, media, { vision, limits });
      expect(calls).toEqual(
        several ? ['moments 1 2 3 after 0: car'] : ['frame 1 after 0: car', 'frame 2: car', 'frame 3: car'],
      );
      expect(answers).toEqual([]);
      expect(earlier.map((moment) => triggered(moment.answers))).toEqual([[false], [true], [false]]);
    },
  );

  test('a model that compares with the frame before gets that of the check before with the oldest frame', async () => {
    const media = withMoments({ previous: picture(0) });
    const joint = recordingVision({ canJudgeMoments: true, usesPrevious: true });
    await askModel({ joint: [car], separate: [] }, media, { vision: joint.vision, limits });
    expect(joint.calls).toEqual(['moments 1 2 3 4 after 0: car']);
    const single = recordingVision({ usesPrevious: true });
    await askModel({ joint: [car], separate: [] }, media, { vision: single.vision, limits });
    expect(single.calls).toEqual([
      'frame 1 after 0: car',
      'frame 2 after 1: car',
      'frame 3 after 2: car',
      'frame 4 after 3: car',
    ]);
  });

  test('a failed call leaves its frame without verdicts, is no left-out condition, and the other frames count', async () => {
    const { vision } = recordingVision({}, ([frame]) => {
      if (frame === 3) throw new VisionError('Try again.');
    });
    const { earlier, answers, failure, calls } = await askModel(
      { joint: [car], separate: [] },
      withMoments(),
      { vision, limits },
    );
    expect([...earlier, { answers }].map((moment) => triggered(moment.answers))).toEqual([
      [false],
      [true],
      [null],
      [false],
    ]);
    expect(earlier[2]?.answers).toMatchObject([{ leftOut: false }]);
    expect(failure).toMatchObject({ remediation: 'Try again.' });
    expect(calls).toEqual([tokens, tokens, failedCall, tokens]);
  });

  test('a frame that the answer lacks, or names a condition of twice, leaves it out there only', async () => {
    const { vision } = recordingVision({ canJudgeMoments: true });
    const verdict = { condition_id: 'car', triggered: true, explanation: 'So.' };
    const judge = async () => ({ moments: [[verdict], [verdict, verdict], [], [verdict]], tokens });
    const { earlier, answers } = await askModel({ joint: [car], separate: [] }, withMoments(), {
      vision: { ...vision, judge },
      limits,
    });
    expect(
      [...earlier, { answers }].flatMap((moment) =>
        moment.answers.map(({ verdict: given, leftOut }) => [given?.triggered ?? null, leftOut]),
      ),
    ).toEqual([
      [true, false],
      [null, true],
      [null, true],
      [true, false],
    ]);
  });

  test('a server that takes fewer frames in one call has a call a frame instead, and the refused one is not counted', async () => {
    const { calls, vision } = recordingVision({ canJudgeMoments: true }, (frames) => {
      if (frames.length > 1) throw new TooManyFramesError();
    });
    const judgement = await askModel({ joint: [car], separate: [dog] }, withMoments(), { vision, limits });
    expect(calls.filter((call) => call.startsWith('moments'))).toHaveLength(2);
    expect(judgement).toMatchObject({ failure: null, calls: Array.from({ length: 8 }, () => tokens) });
    expect(judgement.earlier.map(({ answers }) => triggered(answers))).toEqual([
      [false, false],
      [true, true],
      [false, false],
    ]);
  });

  test('no further call is made after the time limit of all calls', async () => {
    const { calls, vision } = recordingVision({});
    const slow: VisionModel = {
      ...vision,
      judge: async (media, questions, signal) => {
        const result = await vision.judge(media, questions, signal);
        if (media.frame[0] === 1) return result;
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        throw new VisionError('Too late.');
      },
    };
    const judgement = await askModel({ joint: [car], separate: [] }, withMoments(), {
      vision: slow,
      limits: { visionTimeoutSeconds: 0.05 },
    });
    expect(calls).toEqual(['frame 1: car', 'frame 2: car']);
    expect(judgement).toMatchObject({
      calls: [tokens, failedCall],
      failure: { remediation: 'Too late.' },
      answers: [{ verdict: null }],
    });
  });
});

test('the media of moments are read by their keys, and a moment whose frame was removed is left out', async () => {
  const stored = new Map([
    ['newest', picture(4)],
    ['kept', picture(1)],
    ['before', picture(0)],
  ]);
  const media = await readCheckMedia(
    {
      captured: { ...captured, frame_key: 'newest', captured_at: at.toISOString() },
      mode: 'frames',
      previousKey: 'before',
      moments: [
        { frame_key: 'kept', captured_at: '2026-03-01T11:59:50.000Z' },
        { frame_key: 'gone', captured_at: '2026-03-01T11:59:55.000Z' },
      ],
    },
    { media: { get: async (key: string) => stored.get(key) } as never, vision: recordingVision({}).vision },
  );
  expect(media).toEqual({
    mode: 'frames',
    black: false,
    frame: picture(4),
    at,
    moments: [{ frame_key: 'kept', at: new Date('2026-03-01T11:59:50.000Z'), frame: picture(1) }],
  });
});

test('a black capture whose moments were removed has no media', async () => {
  const read = (black: boolean) =>
    readCheckMedia(
      {
        captured: { ...captured, black },
        mode: 'frames',
        previousKey: undefined,
        moments: [{ frame_key: 'gone', captured_at: at.toISOString() }],
      },
      {
        media: { get: async (key: string) => (key === 'newest' ? picture(4) : undefined) } as never,
        vision: recordingVision({}).vision,
      },
    );
  expect(await read(true)).toBeUndefined();
  expect(await read(false)).toMatchObject({ moments: [] });
});

test('a call with more pictures than fit costs the tokens that it has used, a refused one nothing', () => {
  const calls = [{ input_tokens: 900, output_tokens: 1, failed: true }];
  expect(new TooManyFramesError(new VisionError('Too long.', { calls })).calls).toEqual(calls);
  expect(new TooManyFramesError(new VisionError('Refused.')).calls).toEqual([]);
});
