import { describe, expect, test } from 'vitest';
import { explainCondition } from '../../adapters/vision/objects/explain-objects.ts';
import { parseCondition } from '../../adapters/vision/condition/parse-condition.ts';
import { findMotion, graySize } from '../../console/walk/motion.ts';
import { runWalk } from '../../console/walk/use-walk-test.ts';
import {
  describeScore,
  findPlace,
  findWeakness,
  isPerhaps,
  judgeWalk,
  scoreWalk,
} from '../../console/walk/score.ts';
import type { WalkVerdict } from '../../console/walk/score.ts';

/** Picture with a bright square of 6 pixels at each place; `light` is the level of the rest. */
function picture(places: readonly (readonly [number, number])[], light = 80): Uint8Array {
  const levels = new Uint8Array(graySize.width * graySize.height).fill(light);
  for (const [x, y] of places)
    for (const row of [0, 1, 2, 3, 4, 5]) levels.fill(light + 60, (y + row) * 80 + x, (y + row) * 80 + x + 6);
  return levels;
}

describe('findMotion', () => {
  test('a picture moves if something is at another place in both neighbors', () => {
    const walk = [picture([]), picture([[5, 20]]), picture([[20, 20]]), picture([]), picture([])];
    expect(findMotion(walk)).toEqual(['still', 'moves', 'moves', 'still', 'still']);
  });

  test('the newest picture is only changed, because it may show what was left', () => {
    expect(findMotion([picture([[5, 20]]), picture([])])).toEqual(['still', 'changed']);
  });

  test('something that comes to the same place three times is not taken for a clock', () => {
    const visits = Array.from({ length: 7 }, (_, at) => picture(at % 2 === 1 ? [[40, 20]] : []));
    expect(findMotion(visits).slice(1, 6)).toEqual(Array(5).fill('moves'));
  });

  test('a change of the light is no motion', () => {
    expect(findMotion([picture([], 60), picture([], 110), picture([], 60)])).toEqual([
      'still',
      'still',
      'still',
    ]);
  });

  test('a clock in the picture is no motion after eight comparisons, and what moves beside it is', () => {
    const clock = [2, 2] as const;
    const walking = Array.from({ length: 10 }, (_, second) =>
      picture([...(second % 2 === 1 ? [clock] : []), ...(second === 5 ? [[40, 20] as const] : [])]),
    );
    expect(findMotion(walking)).toEqual([...Array(5).fill('still'), 'moves', ...Array(4).fill('still')]);
  });
});

const box = (x: number, y = 0.3) => ({ label: 'person', score: 0.8, x, y, width: 0.1, height: 0.4 });
const verdict = (triggered: boolean, more: Partial<WalkVerdict> = {}): WalkVerdict => ({
  condition: 'A person is there',
  triggered,
  explanation: '',
  boxes: [],
  ...more,
});
const seenAt = (x: number) => verdict(true, { boxes: [box(x)] });
const perhaps = verdict(false, { explanation: 'Looks like perhaps 1 person (0.22).' });

describe('scoreWalk', () => {
  test('a score counts only pictures with motion, and the place before each that shows none', () => {
    const verdicts = [verdict(false), seenAt(0.5), perhaps, seenAt(0.05), verdict(false), seenAt(0.06)];
    const score = scoreWalk(
      ['still', 'moves', 'moves', 'moves', 'still', 'still'],
      [...verdicts, verdict(false)],
    );
    expect(score).toEqual({
      pictures: 7,
      judged: 7,
      seen: 3,
      moving: 3,
      seenMoving: 2,
      perhaps: 1,
      lostAt: ['middle'],
    });
    expect(describeScore(score)).toBe(
      'Seen in 2 of 3 pictures with motion, perhaps in 1 more; lost in the middle.',
    );
  });

  test('a person who is seen until the edge by which she leaves is not lost, and the result is one', () => {
    const verdicts = [verdict(false), seenAt(0.4), seenAt(0.05), verdict(false), verdict(false)];
    const score = scoreWalk(['still', 'moves', 'moves', 'still', 'still'], verdicts);
    expect(describeScore(score)).toBe('Seen in 2 of 2 pictures with motion.');
    expect(judgeWalk(score).label).toBe('Seen');
    expect(judgeWalk({ ...score, moving: 3 }).label).toBe('Seen in part');
    expect(judgeWalk({ ...score, seen: 0, seenMoving: 0 }).label).toBe('Not seen');
    expect(judgeWalk({ ...score, judged: 0 }).label).toBe('Not judged');
  });

  test('the newest picture counts only if it is seen', () => {
    expect(scoreWalk(['still', 'changed'], [verdict(false), verdict(false)]).moving).toBe(0);
    expect(scoreWalk(['still', 'changed'], [verdict(false), seenAt(0.4)])).toMatchObject({
      moving: 1,
      seenMoving: 1,
      lostAt: [],
    });
  });

  test.each([
    [['still'], [verdict(false)], 'No motion: walk through the picture.'],
    [['still'], [verdict(true)], 'Seen in 1 picture without motion.'],
    [['moves'], [verdict(false, { judged: false })], 'The model cannot judge this condition.'],
    [
      ['moves', 'moves'],
      [verdict(false), perhaps],
      'Not seen in 2 pictures with motion, perhaps in 1. Try a nearer place, more light or another angle.',
    ],
    [['moves', 'moves'], [verdict(true), verdict(false)], 'Seen in 1 of 2 pictures with motion.'],
  ] as const)('a score of motion %j has its sentence', (motion, verdicts, sentence) => {
    expect(describeScore(scoreWalk(motion, verdicts))).toBe(sentence);
  });
});

describe('findWeakness', () => {
  const sized = (width: number, height: number, label = 'person') => ({ ...box(0.4), width, height, label });
  test.each([
    ['small', [sized(0.02, 0.09), sized(0.02, 0.08), sized(0.1, 0.4)]],
    ['above', [sized(0.15, 0.3), sized(0.2, 0.3)]],
    [undefined, [sized(0.1, 0.4), sized(0.15, 0.3)]],
    [undefined, [sized(0.3, 0.3, 'car')]],
    [undefined, []],
  ])('the weakness %s is what most boxes show', (weakness, boxes) => {
    expect(findWeakness(boxes)).toBe(weakness);
  });

  test('the score names what makes a person hard to find', () => {
    const seen = verdict(true, { boxes: [sized(0.02, 0.08)] });
    expect(describeScore(scoreWalk(['moves', 'moves'], [seen, seen]))).toContain(
      'below a tenth of the height',
    );
    const above = verdict(true, { boxes: [sized(0.2, 0.3)] });
    expect(describeScore(scoreWalk(['moves', 'moves'], [above, above]))).toContain('from above');
  });
});

describe('findPlace', () => {
  test.each([
    [{ x: 0.1, y: 0.3, width: 0.12, height: 0.4 }, 'left'],
    [{ x: 0.85, y: 0.6, width: 0.1, height: 0.4 }, 'right'],
    [{ x: 0.4, y: 0.59, width: 0.1, height: 0.4 }, 'lower'],
    [{ x: 0.4, y: 0, width: 0.1, height: 0.2 }, 'upper'],
    [{ x: 0.4, y: 0.3, width: 0.1, height: 0.4 }, 'middle'],
  ])('an object at %j was last seen at %s', (at, place) => {
    expect(findPlace({ label: 'person', score: 0.5, ...at })).toBe(place);
  });
});

test('a doubt of the built-in model is read from its sentence', () => {
  const { condition } = parseCondition('A person is there');
  const explain = (score: number) => {
    const detections = [{ object: 'person' as const, score, box: box(0.2) }];
    const moment = { atSeconds: null, picture: { width: 0, height: 0, rgb: new Uint8Array() }, detections };
    return explainCondition(condition!, { ...moment, measured: null }, []);
  };
  expect(isPerhaps({ triggered: false, explanation: explain(0.22) })).toBe(true);
  expect(isPerhaps({ triggered: false, explanation: explain(0.1) })).toBe(false);
  expect(isPerhaps({ triggered: true, explanation: explain(0.22) })).toBe(false);
  expect(isPerhaps({ triggered: false, explanation: 'Perhaps a person hides there.' })).toBe(false);
});

describe('runWalk', () => {
  /** Runs a walk whose checks take `checkMs` on a clock of its own. Returns the times of the checks. */
  async function walk(
    checkMs: number,
    onCheck: (checks: number, stop: () => void) => void = () => undefined,
  ) {
    let ms = 0;
    const begun: number[] = [];
    const seen: number[] = [];
    const abort = new AbortController();
    const check = async () => {
      onCheck(begun.push(ms), () => abort.abort());
      ms += checkMs;
      return begun.length;
    };
    const deps = {
      check,
      onChecked: async (checked: number) => void seen.push(checked),
      nowMs: () => ms,
      wait: async (pauseMs: number) => void (ms += pauseMs),
    };
    await runWalk(deps, abort.signal);
    return { begun, seen };
  }
  test('a walk checks once a second for a minute, and later if a check takes longer', async () => {
    expect((await walk(300)).begun).toEqual(Array.from({ length: 60 }, (_, second) => second * 1000));
    expect((await walk(7_000)).begun).toHaveLength(9);
  });

  test('a walk ends with the first error, and with a stop without the check under way', async () => {
    const refuse = (checks: number) => {
      if (checks === 3) throw new Error('too many calls');
    };
    await expect(walk(300, refuse)).rejects.toThrow('too many calls');
    const stopAtFive = (checks: number, stop: () => void) => (checks === 5 ? stop() : undefined);
    expect((await walk(300, stopAtFive)).seen).toEqual([1, 2, 3, 4]);
  });
});
