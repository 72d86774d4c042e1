import { describe, expect, test } from 'vitest';
import { parseCondition } from '../../../../adapters/vision/condition/parse-condition.ts';
import type { Detection } from '../../../../adapters/vision/objects/detector.ts';
import { decideSurely, listSureAnswers } from '../../../../adapters/vision/objects/decide-surely.ts';
import type { ObjectMoment } from '../../../../adapters/vision/objects/judge-objects.ts';
import { measurePicture } from '../../../../adapters/vision/pixel/measure-picture.ts';
import type { Region } from '../../../../core/records/capture.ts';
import { object } from './model-that-sees.ts';

const size = { width: 64, height: 36 };
const tones = (...levels: number[]) =>
  new Uint8Array(size.width * size.height * 3).map(
    (_, at) => levels[Math.floor(at / 3) % levels.length] ?? 0,
  );

type Scene = { rgb?: Uint8Array; regions?: Region[] };

function decide(text: string, detections: Detection[], { rgb = tones(60, 200), regions }: Scene = {}) {
  const moment: ObjectMoment = {
    atSeconds: null,
    picture: { ...size, rgb },
    detections,
    measured: { picture: measurePicture(rgb, size), clip: null },
    ...(regions && { all: detections, regions }),
  };
  return decideSurely(text, parseCondition(text), moment);
}

const person = object('person', 0.5);
const second = object('person', 0.6, 0.6);
const small: Detection = { object: 'person', score: 0.9, box: { x: 0.1, y: 0.2, width: 0.02, height: 0.09 } };

describe('presence', () => {
  test.each<[string, string, Detection[], boolean | null]>([
    ['a score from 0.5 is sure', 'A person', [person], true],
    ['a lower score is not', 'A person', [object('person', 0.49)], null],
    ['a box below a tenth of the height is not', 'A person', [small], null],
    ['two apart are two', 'At least two persons', [person, second], true],
    [
      'two boxes of one object are not two',
      'At least two persons',
      [person, object('person', 0.6, 0.12)],
      null,
    ],
    ['a number may mean exactly so many', 'Two persons', [person, second], null],
    ['a posture is more than presence', 'A person is standing', [person], null],
    ['a place is not judged', 'A person is at the door', [person], null],
    ['a narrower word is not judged', 'An intruder', [person], null],
    ['a color is never sure', 'A red car', [object('car', 0.9)], null],
    ['an unknown verb is not judged', 'A person falls', [person], null],
    [
      'an alike class in the same box leaves doubt',
      'A car',
      [object('car', 0.6), object('truck', 0.3)],
      null,
    ],
    ['a weak alike class does not', 'A car', [object('car', 0.6), object('truck', 0.2)], true],
    ['a group of classes needs no more', 'A vehicle', [object('car', 0.6), object('truck', 0.3)], true],
    [
      'all parts of a condition must be sure',
      'A person and a bicycle',
      [person, object('bicycle', 0.3, 0.5)],
      null,
    ],
    ['one part that is surely missing decides', 'A person and a dog', [person], false],
  ])('an object is judged surely or not: %s', (_, text, detections, expected) => {
    expect(decide(text, detections)).toBe(expected);
  });
});

describe('absence', () => {
  test.each<[string, string, Detection[], boolean | null]>([
    ['without a trace it is sure', 'A person', [], false],
    ['also of what is not judged', 'A person falls at the door', [], false],
    ['a trace leaves doubt', 'A person', [object('person', 0.05)], null],
    ['a trace of another class does not', 'A person', [object('chair', 0.4)], false],
    ['a trace of an alike class leaves doubt', 'A dog', [object('cat', 0.1)], null],
    ['small things are overlooked', 'A knife', [], null],
    ['behind one object another may stand', 'At least two persons', [person], null],
    ['but not two', 'At least three persons', [person], false],
    ['nobody is sure without a trace', 'Nobody', [], true],
    ['nobody is surely wrong with a person', 'Nobody', [person], false],
    ['nobody at a place is sure without a trace', 'Nobody is at the door', [], true],
    ['a time that is not judged makes nothing true', 'No person at night', [], null],
  ])('an object is judged surely or not: %s', (_, text, detections, expected) => {
    expect(decide(text, detections)).toBe(expected);
  });

  test('an absence in the dark and in a picture without contrast is not sure', () => {
    expect(decide('A person', [], { rgb: tones(10, 60) })).toBeNull();
    expect(decide('A person', [], { rgb: tones(120, 126) })).toBeNull();
  });
});

describe('regions', () => {
  // The feet of an object at x are at x + 0.1 and 0.7.
  const regions: Region[] = [
    {
      mode: 'include',
      points: [
        [0.5, 0],
        [1, 0],
        [1, 1],
        [0.5, 1],
      ],
    },
  ];
  test.each<[string, number, boolean | null]>([
    ['well inside is there', 0.6, true],
    ['just inside is not sure', 0.41, null],
    ['just outside is not sure', 0.39, null],
    ['well outside is not there', 0.2, false],
  ])('a person is judged by its place, %s', (_, x, expected) => {
    expect(decide('A person', [object('person', 0.8, x)], { regions })).toBe(expected);
  });
});

describe('measurements', () => {
  test.each<[string, number[], boolean | null]>([
    ['The picture is dark', [20, 20], true],
    ['The picture is dark', [45, 45], null],
    ['The picture is dark', [200, 200], false],
    ['The picture is bright', [200, 200], true],
    ['The picture is bright', [90, 90], null],
    ['The picture is blank', [128, 128], true],
    ['White covers at least 20 %', [255, 0], true],
    ['White covers at least 45 %', [255, 0], null],
    ['White covers less than 80 %', [255, 0], true],
    ['A white box', [255, 255], null],
    ['Something moves', [255, 255], null],
  ])('"%s" in a picture of the levels %j is %j', (text, levels, expected) => {
    expect(decide(text, [], { rgb: tones(...levels) })).toBe(expected);
  });
});

test.each<[string, boolean[]]>([
  ['A person is visible', [true, false]],
  ['A person is at the door', [false]],
  ['Nobody is at the door', [true]],
  ['A bicycle', [true]],
  ['A red car', [false]],
  ['There are people but no cars', [true, false]],
  ['The picture is dark', [true, false]],
  ['A red box', []],
  ['The gate is open', []],
  ['eine Person ist an der Tür', []],
])('the answers to "%s" that can be sure are %j', (text, expected) => {
  expect(listSureAnswers(text)).toEqual(expected);
});
