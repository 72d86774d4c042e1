import { expect, test } from 'vitest';
import { countUnsure } from '../../../../core/policies/watch/health.ts';
import type { WatchHealth } from '../../../../core/records/watch-state.ts';
import { addSeconds } from '../../../../core/time.ts';
import { gateRequest } from '../../../support/watches/watch-records.ts';

const [rule] = gateRequest.conditions;
const conditions = ['car', 'dog'].map((name) => ({ ...rule!, condition_id: name, condition: `A ${name}` }));
const start = new Date('2026-03-01T12:00:00.000Z');

/** Checks every hour, and returns the hours of messages with what they say. */
function check(hours: number, unsureAt: (hour: number) => string[]) {
  let unsure: WatchHealth['unsure'];
  const said: string[] = [];
  for (let hour = 0; hour < hours; hour += 1) {
    const counted = countUnsure(unsure, { conditions }, unsureAt(hour), addSeconds(start, hour * 3600));
    unsure = counted.unsure;
    if (counted.news.length > 0)
      said.push(
        `${hour} ${counted.news.map(({ condition, sightings }) => `${condition} ${sightings}`).join()}`,
      );
  }
  return said;
}

test('unsure sightings of a week are one message after it, however many there are, and no other follows within a week', () => {
  const said = check(24 * 30, () => ['car', 'dog']);
  expect(said).toEqual(['168', '336', '504', '672'].map((hour) => `${hour} A car 168,A dog 168`));
});

test('a week of a few unsure sightings has no message, and a removed condition is left out of it', () => {
  expect(check(24 * 30, (hour) => (hour % 48 === 0 ? ['car'] : []))).toEqual([]);
  expect(check(24 * 8, (hour) => (hour < 7 ? ['bird'] : []))).toEqual([]);
  expect(check(24 * 9, (hour) => (hour >= 20 && hour < 27 ? ['car'] : []))).toEqual(['188 A car 7']);
});

test('sightings of removed conditions are forgotten, however often a watch gets others', () => {
  let unsure: WatchHealth['unsure'];
  for (let edit = 0; edit < 100; edit += 1) {
    const ids = ['car', `edit-${edit}`];
    const config = { conditions: ids.map((id) => ({ ...rule!, condition_id: id })) };
    ({ unsure } = countUnsure(unsure, config, ids, addSeconds(start, edit)));
  }
  expect(unsure?.sightings).toEqual({ car: 100, 'edit-99': 1 });
});
