import { expect, test } from 'vitest';
import { advise } from '../../../core/advice/advise.ts';
import { anyCondition } from '../../../core/ports/vision-model.ts';

const video = { ...anyCondition, supportsVideo: true };

function codesFor(condition: string, model = video) {
  return advise(condition, model).findings.map(({ code }) => code);
}

test.each([
  ['A person is at the door.', []],
  ['The gate is open.', []],
  ['A red and white truck is in the yard.', []],
  ['   ', ['blank']],
  ['Alert me when a person is at the door', ['instruction']],
  ['Is there a person at the door?', ['question']],
  ['Something suspicious is in the yard.', ['vague']],
  ['The gate is open or a person is in the yard.', ['several_conditions']],
  ['A person falls.', ['needs_clip']],
  ['A car is parked in front of the gate for more than 5 minutes.', ['duration']],
  ['The yard is different than yesterday.', ['no_memory']],
  ['My dog is on the couch.', ['identity']],
  ['A burglar is in the house.', ['identity']],
  ['A person is at the door at night.', ['time_of_day']],
  ['There is no car in the yard.', ['negation']],
  [`The gate is open ${'and wide '.repeat(40)}.`, ['long']],
])('the condition "%s" has the findings %j', (condition, codes) => {
  expect(codesFor(condition)).toEqual(codes);
});

test('no clip is advised for an action that the model leaves out, or a condition that it cannot judge', () => {
  const leavesOut = (reasonNotToJudge: string | null) => ({
    ...video,
    readCondition: () => ({ reasonNotToJudge, unjudgedParts: [{ words: 'falls', kind: 'words' as const }] }),
  });
  for (const reason of ['it sees no falls', null]) {
    const { findings, suggestion } = advise('A person falls.', leavesOut(reason));
    expect(findings.map(({ code }) => code)).not.toContain('needs_clip');
    expect(suggestion.input_mode).toBe('frames');
  }
});

test('several conditions in one are suggested as conditions of their own', () => {
  const { suggestion } = advise('Tell me if the gate is open or a person is in the yard', video);
  expect(suggestion.conditions).toEqual(['the gate is open', 'a person is in the yard']);
});

test.each([
  ['Alert me when a person is at the door', 'A person is at the door.'],
  ['Are there two cars in the yard?', 'There are two cars in the yard.'],
  ['The gate is open for more than 5 minutes.', 'The gate is open.'],
])('the wording of "%s" is suggested as "%s"', (condition, clearer) => {
  expect(advise(condition, video).suggestion.conditions).toEqual([clearer]);
});

test('a clear condition keeps its wording and gets the defaults of a watch', () => {
  expect(advise('A person is at the door.', video).suggestion).toEqual({
    conditions: null,
    interval_seconds: 10,
    input_mode: 'frames',
    checks_to_open: 2,
    checks_considered: 3,
    open_after_seconds: 0,
    active: null,
  });
});

test('a time of day is left out of the wording and becomes a schedule', () => {
  const { suggestion } = advise('Alert me when someone is not in bed at night on weekdays', video);
  expect(suggestion).toMatchObject({
    conditions: ['Someone is not in bed.'],
    active: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '22:00', to: '06:00' }],
  });
});

test.each([
  ['A car is in front of the gate for 5 minutes.', 'A car is in front of the gate.', 300],
  ['A parcel is at the door for more than half an hour', 'A parcel is at the door.', 1800],
  ['A parcel is at the door for the last ten minutes', 'A parcel is at the door.', 600],
  ['Tell me if a parcel is still at the door after twenty minutes', 'A parcel is at the door.', 1200],
  ['A van is parked longer than 90 min or more.', 'A van is parked.', 5400],
  ['The gate is open for at least a few hours.', 'The gate is open.', 10_800],
  ['The gate is open over two hours', 'The gate is open.', 7200],
  ['The gate is open for 40 hours', 'The gate is open.', 86_400],
  ['A parcel is still there.', 'A parcel is there.', 600],
  ['The light is still burning', 'The light is burning.', 600],
  ['A car is in the bay for too long.', 'A car is in the bay.', 600],
  ['A truck still blocks the gate', 'A truck blocks the gate.', 600],
  ['A car has stood there since half an hour', 'A car has stood there.', 1800],
  ['A car is there for thirty-five minutes', 'A car is there.', 2100],
  ['A car is there for three quarters of an hour', 'A car is there.', 2700],
  ['A car is there longer than an hour and a half', 'A car is there.', 5400],
  ['A car is there for one and a half hours', 'A car is there.', 5400],
  ['A truck is at the dock for 2 hours and 30 minutes', 'A truck is at the dock.', 9000],
  ['A car is there for a full hour', 'A car is there.', 3600],
  ['A car is there for a half hour', 'A car is there.', 1800],
  ['A car is there for about a half-hour or so', 'A car is there.', 1800],
  ['A car is there for an hour and a half', 'A car is there.', 5400],
  ['A car is there for an hour and a quarter', 'A car is there.', 4500],
  ['A car is there for one-and-a-half hours', 'A car is there.', 5400],
  ['A car is there for a quarter hour', 'A car is there.', 900],
  ['A car is there for three-quarters of an hour', 'A car is there.', 2700],
  ['A car is there for nearly half a minute', 'A car is there.', 30],
  ['A car is there for a couple minutes', 'A car is there.', 120],
  ['A car is there for a dozen minutes', 'A car is there.', 720],
  ['A car has been there for the last hour', 'A car has been there.', 3600],
  ['A car is there for an hour and three quarters', 'A car is there.', 6300],
  ['A car is there for two hours and three-quarters', 'A car is there.', 9900],
  ['A car is there for one half hour', 'A car is there.', 1800],
  ['A car is there for one half of an hour', 'A car is there.', 1800],
  ['A car is there for half a dozen minutes', 'A car is there.', 360],
  ['A car is there for a half dozen hours', 'A car is there.', 21_600],
  ['A car is there for 2 and a half hours', 'A car is there.', 9000],
  ['A car is there for ten and a half minutes', 'A car is there.', 630],
  ['A car is there for one and a quarter hours', 'A car is there.', 4500],
  ['A car is there for 1 and three quarters hours', 'A car is there.', 6300],
  ['A car is there for the last couple of minutes', 'A car is there.', 120],
  ['A car is there for the past few hours', 'A car is there.', 10_800],
  ['A car is there for the last dozen minutes', 'A car is there.', 720],
  ['A car is there for a quarter of an hour', 'A car is there.', 900],
  ['A car is there for the last hours', 'A car is there.', 600],
])('"%s" is suggested as "%s" that has held for %i s', (condition, clearer, seconds) => {
  const { findings, suggestion } = advise(condition, video);
  expect(suggestion).toMatchObject({ conditions: [clearer], open_after_seconds: seconds });
  expect(findings.map(({ code }) => code)).toContain('duration');
  expect(findings.map(({ code }) => code)).not.toContain('no_memory');
});

test.each([
  'A dog stands still.',
  'More than two people are in the yard.',
  'The water is still.',
  'A screen shows a still image that flickers.',
  'A person lies still as cars pass.',
  'Two still cameras are on the table.',
  'A sign for hours of work is visible.',
  'The bin is at least half full.',
  'More than half of the lot is empty.',
  'A clock shows half past nine.',
  'A parcel for a quarter house is visible.',
  'A person is seen at the last house.',
  'Over a dozen minivans are parked.',
])('"%s" names no time for which it holds', (condition) => {
  const { findings, suggestion } = advise(condition, video);
  expect(suggestion.open_after_seconds).toBe(0);
  expect(findings.map(({ code }) => code)).not.toContain('duration');
});

test('a brief action is checked every 5 s in clips, and one check opens the alert', () => {
  const { suggestion } = advise('A person falls.', video);
  expect(suggestion).toMatchObject({ interval_seconds: 5, input_mode: 'clip', checks_to_open: 1 });
});

test('a model without video gets frames, and the finding suggests to describe the state', () => {
  const { findings, suggestion } = advise('A car arrives.', anyCondition);
  expect(suggestion.input_mode).toBe('frames');
  expect(findings[0]?.message).toContain('Describe the state');
});

test('a sensitivity is ignored by all models but the one that has it, and the advice says so', () => {
  const codes = (hasSensitivity: boolean, sensitivity: 'normal' | 'high') =>
    advise('A red car.', { ...video, hasSensitivity }, sensitivity).findings.map(({ code }) => code);
  expect(codes(false, 'high')).toEqual(['sensitivity_ignored']);
  expect(codes(false, 'normal')).toEqual([]);
  expect(codes(true, 'high')).toEqual([]);
});

test('a condition that the model cannot judge has a finding with the reason', () => {
  const readCondition = () => ({ reasonNotToJudge: 'it measures colors only', unjudgedParts: [] });
  expect(advise('A person is at the door.', { ...video, readCondition }).findings).toEqual([
    { code: 'model_cannot_judge', message: expect.stringContaining('this: it measures colors only.') },
  ]);
});

test.each([
  ['spaces', `the gate${' '.repeat(990)}x`],
  ['question marks', `is there ${'?'.repeat(990)}x`],
])('twenty calls with 1,000 %s take less than two seconds of processor time', (_, condition) => {
  const before = process.threadCpuUsage();
  for (let call = 0; call < 20; call += 1) advise(condition, video);
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(2000);
});
