import { expect, test } from 'vitest';
import { parseMeasurements } from '../../../../adapters/vision/condition/parse-condition.ts';
import type { PixelCondition } from '../../../../adapters/vision/condition/condition.ts';

/** Short notation for comparisons: "red>=50%", "blue#0.5%" for a region, "!", "&" and "|". */
function short(condition: PixelCondition | null): string {
  if (condition === null) return '-';
  switch (condition.kind) {
    case 'not':
      return `!(${short(condition.of)})`;
    case 'all':
      return condition.of.map(short).join(' & ');
    case 'any':
      return condition.of.map(short).join(' | ');
    case 'share': {
      const signs = { 'at least': '>=', 'more than': '>', 'at most': '<=', 'less than': '<' };
      return `${condition.color}${signs[condition.compare]}${Math.round(condition.share * 100)}%`;
    }
    case 'region':
      return `${condition.color}#${condition.share * 100}%`;
    default:
      return condition.kind;
  }
}

test.each([
  ['the light turns red', 'red#0.5%'],
  ['the traffic light changes to green', 'green#0.5%'],
  ['no red light', '!(red#0.5%)'],
  ['nothing but red', 'red>=90%'],
  ['the screen changes from red to blue', 'blue>=50%'],
  ['the screen is not blue', '!(blue>=50%)'],
  ['there is red in the picture', 'red#0.5%'],
  ['a car in the picture is red', 'red#0.5%'],
  ['The image is mostly grey.', 'grey>=50%'],
  ['not more than 5 % is red', 'red<=5%'],
  ['less than half of the frame is white', 'white<50%'],
  ['Over 33.5 percent of the frame shows turquoise', 'cyan>34%'],
  ['no red at all', '!(red#0.5%)'],
  ["red isn't gone", 'red#0.5%'],
  ['red or blue and dark', 'red#0.5% | blue#0.5% & dark'],
  ['neither red nor blue', '!(red#0.5%) & !(blue#0.5%)'],
  ['a dark blue car', 'blue#0.5%'],
  ['the light blue wall', 'blue#0.5%'],
  ['it is light outside', 'bright'],
  ['the lights are turned off', 'dark'],
  ['the lights turn on again', '!(dark) & unmeasurable'],
  ['the lights are not off', '!(dark | unmeasurable)'],
  ['the lights are not on', '!(!(dark))'],
  ['the light of the machine is on', '-'],
  ['the porch light is off', '-'],
  ['the red light is on the left', 'red#0.5%'],
  ['the room is bright', 'bright'],
  ['a dark room', 'dark'],
  ['the picture is too dark', 'dark'],
  ['a dark figure', '-'],
  ['a dark, tall figure', '-'],
  ['a bright light', '-'],
  ['something dark', '-'],
  ['part of the picture is dark', '-'],
  ['the reactor is dark', '-'],
  ['it is dark, a parcel is at the door', 'dark & unmeasurable'],
  ['it is dark unless the light is red', '-'],
  ['the picture should not be red', '-'],
  ['the picture isnt red', '!(red>=50%)'],
  ['the picture is not red for five minutes', '!(red>=50%) & unmeasurable'],
  ['two red boxes', 'red#0.5% & unmeasurable'],
  ['exactly one red box', 'red#0.5% & unmeasurable'],
  ['one red box', 'red#0.5%'],
  ['a red box without a blue box', 'red#0.5% & !(blue#0.5%)'],
  ['the picture is red, not blue', 'red>=50% & !(blue#0.5%)'],
  ['nothing moves', '!(motion)'],
  ['the camera stands still', '!(motion)'],
  ['is there still something red?', 'red#0.5%'],
  ['movement near the door', 'motion'],
  ['If something red appears, tell me', 'red#0.5%'],
  ['a person falls', '-'],
  ['a person falls and the light is red', 'unmeasurable & red#0.5%'],
  ['a person falls or the light is red', 'red#0.5%'],
  ['', '-'],
])('"%s" is parsed as %s', (text, condition) => {
  expect(short(parseMeasurements(text).condition)).toBe(condition);
});

test('words without a measurable meaning are listed', () => {
  expect(parseMeasurements('a red car beside the house').notJudged).toEqual([
    { words: 'car', kind: 'words' },
    { words: 'beside', kind: 'words' },
    { words: 'house', kind: 'place' },
  ]);
});
