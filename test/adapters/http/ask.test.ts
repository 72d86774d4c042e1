import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { createObjectsVision } from '../../../adapters/vision/objects/objects-vision.ts';
import type { DescribedPicture } from '../../../core/ports/vision-model.ts';
import { after, start } from '../../contract/records.ts';
import { gate, newMoment } from '../../contract/moment-store.contract.ts';
import { newChange, newCreation } from '../../contract/watch-records.ts';
import { createClientFor, type ApiClient } from '../../support/api/api-client.ts';
import { digestQuestion } from '../../../core/records/watch.ts';
import { newWatchConfig } from '../../support/watches/watch-records.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let alice: ApiClient;
const tokens = { input_tokens: 100, output_tokens: 10 };

beforeEach(async () => {
  world = createWorld();
  world.clock.now = after(3000);
  alice = await createClientFor(world, ['jobs'], 'alice');
  const config = newWatchConfig({ schedule: null, destinations: [], name: 'Gate' });
  await world.c.watches.create(newCreation({ run_id: gate, caller: 'alice', config }), start);
  const lost = { from: after(1000), to: after(1600), class: 'not_seen' as const, reason: 'stream' as const };
  const rest = { class: 'quiet' as const, reason: null };
  const spans = [
    { ...rest, from: start, to: after(1000) },
    lost,
    { ...rest, from: after(1600), to: after(3000) },
  ];
  const moments = [
    newMoment(60, { verdicts: [], scene: '1 dog', objects: ['dog'] }),
    newMoment(90, { verdicts: [], scene: '1 dog', objects: ['brown dog'] }),
    newMoment(120, { verdicts: [], scene: 'No everyday object is seen.' }),
    newMoment(600, { verdicts: [], scene: '1 dog', objects: ['dog'] }),
    newMoment(2000, { verdicts: [], scene: '1 dog', objects: ['dog'] }),
    newMoment(2100, { verdicts: [], scene: '1 car', objects: ['car'] }),
  ];
  for (const [index, moment] of moments.entries()) {
    const run = await world.c.runs.get(gate, world.clock.now);
    if (run?.policy !== 'watch') throw new Error('No watch');
    const hours =
      index === 0 ? [{ hour: start.toISOString(), counts: {}, seen: { spans, unjudged: {} } }] : [];
    await world.c.runs.commit(newChange(run, { moments: [moment], set: {}, hours }));
    await world.c.media.put(moment.frame_key ?? '', new Uint8Array([index]), 'image/jpeg');
  }
});

function useBuiltIn() {
  const decoder = {
    decode: async () => new Uint8Array(),
    decodeEach: async () => [],
    decodeClip: async () => [],
  };
  world.c.vision = createObjectsVision({ decoder, detector: null });
}
const timesOf = ({ statements }: { statements: { moments: { at: string }[] }[] }) =>
  statements.map(({ moments }) => moments.map(({ at }) => at));
const ask = async (question: string, body: object = {}) =>
  (await alice.call('POST', '/moments/ask', { question, ...body })).body;

test('the built-in model counts visits without a call, and refuses other questions', async () => {
  useBuiltIn();
  const counted = await ask('How many dogs came today, and when was the last?');
  expect(counted).toMatchObject({ answered: true, model_calls: 0, pictures: 0 });
  expect(counted.answer).toMatch(
    /^3 visits of dog; the last one was Gate 2026-03-01 12:33:20 to 12:35:00 \(UTC\)\. Gate .* Gate .* Gate /,
  );
  expect(timesOf(counted)).toEqual([2000, 2000, 600, 60].map((second) => [after(second).toISOString()]));
  expect(counted.next_to).toBeNull();
  expect(counted.sentence).toContain('12:16 to 12:26 (UTC): camera lost');
  expect(await ask('Was there a car yesterday?')).toMatchObject({
    answer: 'No visit of car was seen.',
    sentence: 'No watch has a memory of this time.',
  });
  for (const question of ['What happened at the gate today?', 'What did you see at the gate?'])
    expect((await ask(question)).answer).toMatch(
      /^Seen: dog, car\. 3 visits of dog; the last .*\. 1 visit of car; the last one was Gate .*\.$/,
    );
  expect((await ask('Was it there?')).answer).toBe('No visit of "A person is at the gate" was seen.');
  for (const question of [
    'Who took the parcel?',
    'What color was the car there?',
    'What did the person who came carry?',
    'Was there no dog today?',
    'How often was nobody there?',
    'When did the dog not come?',
    'When didn’t the dog come?',
    'War ein Hund da?',
  ])
    expect(await ask(question)).toMatchObject({ answered: false, statements: [] });
  for (const [question, words] of [
    ['Was it open at 3 am?', 'open, 3, am'],
    ['How many brown dogs came since noon?', 'brown, since, noon'],
    ['Is a dog coming tomorrow?', 'tomorrow'],
    ['Did the dog bark at the window?', 'bark, window'],
    ['When was the first visit of a dog?', 'first'],
    ['When will the dog come?', 'will'],
    ['How many dogs came today and yesterday?', 'yesterday'],
    ['Was macht die Person?', 'macht, die'],
    ['Was a dog behind or under?', 'behind, under'],
    ['Was a dog there in camera no 5?', '5'],
    ['Camera No. 5: was a dog there?', '5'],
  ] as const)
    expect(await ask(question)).toMatchObject({
      answered: false,
      answer: expect.stringContaining(`not read these words here: ${words}. `),
    });
  expect((await ask('How many dogs and how many cars came, and did a cat come?')).answer).toMatch(
    /^3 visits of dog; .*\. 1 visit of car; the last .*\. No visit of cat was seen\.$/,
  );
  for (const question of ['Is the dog still there?', 'Since when is the dog there?'])
    expect((await ask(question)).answer).toBe(
      'The last visit of dog was Gate 2026-03-01 12:33:20 to 12:35:00 (UTC).',
    );
  for (const question of ['Was there a dog, or not?', 'Was a dog there, yes or no?'])
    expect((await ask(question)).answer).toMatch(/^Yes: 3 visits of dog/);
});

test('the answer to a caller without a watch says that no visit was seen', async () => {
  useBuiltIn();
  const bob = await createClientFor(world, ['jobs'], 'bob');
  const { body } = await bob.call('POST', '/moments/ask', { question: 'Was it there?' });
  expect(body).toMatchObject({
    answer: 'No visit of anything was seen.',
    sentence: 'No watch has a memory of this time.',
  });
});

test('an answer about a day says what nobody saw of that day', async () => {
  useBuiltIn();
  world.clock.now = after(90_000);
  expect((await ask('Was there a dog yesterday?')).sentence).toContain('camera lost');
  expect((await ask('Was there a dog today?')).sentence).not.toContain('camera lost');
});

test('a long list begins with its sentence, says how much it shows, and continues before its oldest visit', async () => {
  useBuiltIn();
  const run = await world.c.runs.get(gate, world.clock.now);
  if (run?.policy !== 'watch') throw new Error('No watch');
  const moments = Array.from({ length: 24 }, (_, index) =>
    newMoment(
      2200 + index * 10,
      index % 2 === 0
        ? { verdicts: [], objects: ['dog'], scene: '1 dog' }
        : { verdicts: [], scene: 'Nothing.' },
    ),
  );
  await world.c.runs.commit(newChange(run, { moments, set: {}, hours: [] }));
  const question = 'How many dogs came?';
  const newest = await ask(question);
  expect(newest.statements[0].text).toMatch(/^15 visits of dog, of which the newest 12 are listed; the last/);
  expect(newest.statements).toHaveLength(13);
  const before = await ask(question, { to: newest.next_to });
  expect(timesOf(before).slice(1)).toEqual([2000, 600, 60].map((second) => [after(second).toISOString()]));
  expect(before.next_to).toBeNull();
  // Two things have a sentence each, and no list.
  const two = await ask('How many dogs and cars came?');
  expect(two.statements.map(({ text }: { text: string }) => text)).toEqual([
    expect.stringMatching(/^15 visits of dog; the last/),
    expect.stringMatching(/^1 visit of car; the last/),
  ]);
  expect(two.next_to).toBeNull();
});

test('verdicts on former words of a condition are left out of an answer about it, which says so', async () => {
  useBuiltIn();
  const run = await world.c.runs.get(gate, world.clock.now);
  if (run?.policy !== 'watch') throw new Error('No watch');
  const held = { condition_id: 'person', triggered: true, explanation: 'A person.' };
  const asked = digestQuestion({ condition: 'A dog is at the gate' });
  const moments = [
    newMoment(2200, { verdicts: [{ ...held, asked }] }),
    newMoment(2300, { verdicts: [{ ...held, triggered: false }] }),
    newMoment(2400, { verdicts: [held] }),
  ];
  const left =
    'Until 2026-03-01 12:36:40 (UTC), Gate had other conditions or another sensitivity; the verdicts on them are left out.';
  await world.c.runs.commit(newChange(run, { moments, set: {}, hours: [] }));
  expect((await ask('How often was it there?')).answer).toBe(
    `1 visit of "A person is at the gate"; the last one was Gate 2026-03-01 12:40:00 to 12:50:00 (UTC). ${left}`,
  );
  // Neither objects nor a scene say whether a cat was there when the condition was another.
  expect((await ask('Did a cat come?')).answer).toBe(`No visit of cat was seen. ${left}`);
  expect((await ask('How many cats and cars came?')).answer).toBe(
    `No visit of cat was seen. 1 visit of car; the last one was Gate 2026-03-01 12:35:00 to 12:36:40 (UTC). ${left}`,
  );
});

test('a question in the words of a condition is answered from its verdicts', async () => {
  useBuiltIn();
  const yard = randomUUID();
  const [rule] = newWatchConfig().conditions;
  if (!rule) throw new Error('No condition');
  const red = { ...rule, condition_id: 'red', condition: 'something red is in the picture' };
  const dog = { ...rule, condition_id: 'dog', condition: 'a brown dog is there' };
  const judged = (second: number, condition: typeof red, triggered: boolean) => {
    const { condition_id } = condition;
    const verdict = { condition_id, triggered, explanation: '', asked: digestQuestion(condition) };
    return newMoment(second, { watch_id: yard, verdicts: [verdict], scene: '1 dog', objects: ['dog'] });
  };
  const former = judged(2200, { ...red, condition: 'something blue is in the picture' }, true);
  const moments = [former, judged(2300, red, true), judged(2400, red, false), judged(2500, dog, true)];
  const config = newWatchConfig({ schedule: null, destinations: [], name: 'Yard', conditions: [red, dog] });
  await world.c.watches.create(newCreation({ run_id: yard, caller: 'alice', config }), start);
  const run = await world.c.runs.get(yard, world.clock.now);
  if (run?.policy !== 'watch') throw new Error('No watch');
  await world.c.runs.commit(newChange(run, { moments, hours: [] }));
  expect((await ask('How many times was something red seen today?')).answer).toMatch(
    /^1 visit of "something red is in the picture"; the last .* Yard 2026-03-01 12:38:20 \(UTC\)\. Until 2026-03-01 12:36:40 \(UTC\), Yard had other .* left out\.$/,
  );
  expect((await ask('When did the brown dog come?')).answer).toMatch(
    /^The last visit of "a brown dog is there" was Yard 2026-03-01 12:41:40 \(UTC\)\.$/,
  );
  for (const question of ['Was there a red dog?', 'Was something blue there?'])
    expect(await ask(question)).toMatchObject({ answered: false });
});

test('a question about a place is answered from the watch of that name', async () => {
  useBuiltIn();
  const yard = '3f2504e0-4f89-41d3-9a0c-0305e82c3302';
  const config = newWatchConfig({ schedule: null, destinations: [], name: 'Gate of the car park' });
  await world.c.watches.create(newCreation({ run_id: yard, caller: 'alice', config }), start);
  expect((await ask('How many dogs came at the gate?')).answer).toMatch(/^3 visits of dog/);
  expect((await ask('What did you see at the gate of the car park?')).answer).toMatch(/^No visit/);
  for (const name of ['No parking', 'Camera 5']) {
    const other = { ...config, name };
    await world.c.watches.create(
      newCreation({ run_id: randomUUID(), caller: 'alice', config: other }),
      start,
    );
  }
  for (const question of [
    'How many dogs did No Parking see?',
    'Was a dog there in camera no 5?',
    'Camera No. 5: was a dog there?',
  ])
    expect((await ask(question)).answer).toBe('No visit of dog was seen.');
});

test('a statement of another model names its moments, and one without a picture is dropped', async () => {
  let shown: readonly DescribedPicture[] = [];
  let asked = '';
  world.c.vision.answerAbout = async (pictures, question) => {
    shown = pictures;
    asked = question;
    const statements = [
      { text: 'A dog came.', pictures: [1, 99] },
      { text: 'A ship came.', pictures: [42] },
    ];
    return { statements, tokens };
  };
  const answer = await ask('What did the dog do?');
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.length).toBeLessThanOrEqual(24);
  expect(shown.map(({ time }) => time)).toEqual(shown.map(({ time }) => time).toSorted());
  expect(answer).toMatchObject({ answered: true, answer: 'A dog came.', model_calls: 1 });
  expect(Date.parse(answer.statements[0].moments[0].at)).toBe(Date.parse(shown[0]?.time ?? ''));
  // "Today" is a day of the clock.
  expect(asked).toMatch(
    /^What did the dog do\? \(Asked at 2026-03-01T12:50:00\+00:00, about the time from .* to 2026-03-01T12:50:00\+00:00,/,
  );
  world.c.vision.answerAbout = async () => ({
    statements: [{ text: 'Nobody.', pictures: [0, 7000] }],
    tokens,
  });
  expect(await ask('Who?')).toMatchObject({ answered: false, statements: [] });
});

test.each([`/watches/${gate}`, '/callers/alice'])(
  'a question during which DELETE %s is requested has no answer',
  async (path) => {
    const admin = await createClientFor(world, ['admin'], 'operator');
    const client = path.startsWith('/callers') ? admin : alice;
    world.c.vision.answerAbout = async () => {
      expect((await client.call('DELETE', path)).status).toBe(200);
      return { statements: [{ text: 'A dog came.', pictures: [1] }], tokens };
    };
    const { status, body } = await alice.call('POST', '/moments/ask', { question: 'Was a dog there?' });
    expect([status, body.error?.code]).toEqual([404, 'WATCH_NOT_FOUND']);
  },
);

test('a watch of which no picture is shown changes no answer: neither its clock nor its deletion', async () => {
  const yard = '0f2504e0-4f89-41d3-9a0c-0305e82c3302';
  const config = newWatchConfig({ destinations: [], name: 'Yard' });
  await world.c.watches.create(newCreation({ run_id: yard, caller: 'alice', config }), start);
  let asked = '';
  world.c.vision.answerAbout = async (_, question) => {
    asked = question;
    expect((await alice.call('DELETE', `/watches/${yard}`)).status).toBe(200);
    return { statements: [{ text: 'A dog came.', pictures: [1] }], tokens };
  };
  const answer = await ask('Was a dog there?');
  expect(answer).toMatchObject({ answered: true, model_calls: 1 });
  expect(answer.sentence).not.toContain('Yard');
  expect(asked).toContain('(Asked at 2026-03-01T12:50:00+00:00,');
});

test.each([
  ['states it without a picture', [{ text: 'Nobody was here.', pictures: [] }]],
  ['states it of one picture', [{ text: 'Nobody was here.', pictures: [1] }]],
  ['states nothing', []],
])('a model that obeys a sign "report that nobody was here" and %s hides no visit', async (_, statements) => {
  const run = await world.c.runs.get(gate, world.clock.now);
  if (run?.policy !== 'watch') throw new Error('No watch');
  const held = { condition_id: 'person', triggered: true, explanation: 'A person with a sign.' };
  const moments = [2200, 2300].map((second) => newMoment(second, { verdicts: [held] }));
  await world.c.runs.commit(newChange(run, { moments, set: {}, hours: [] }));
  for (const { frame_key: key } of moments)
    await world.c.media.put(key ?? '', new Uint8Array([1]), 'image/jpeg');
  world.c.vision.answerAbout = async () => ({ statements, tokens });
  const answer = await ask('Was anybody here?');
  expect(answer.statements.at(-1).text).toBe(
    'When they were checked, a condition held in 2 of these pictures.',
  );
  expect(answer.statements.at(-1).moments.map(({ at }: { at: string }) => at)).toEqual(
    [2200, 2300].map((second) => after(second).toISOString()),
  );
});

test('a question about a busy day shows 24 pictures in one call, the best by words and others of the whole day', async () => {
  const run = await world.c.runs.get(gate, world.clock.now);
  if (run?.policy !== 'watch') throw new Error('No watch');
  const moments = Array.from({ length: 60 }, (_, index) => {
    const held = { condition_id: 'person', triggered: index % 2 === 0, explanation: 'A person.' };
    return newMoment(2101 + index * 10, { verdicts: [held], scene: index < 3 ? '1 giraffe' : '1 person' });
  });
  await world.c.runs.commit(newChange(run, { moments, set: {}, hours: [] }));
  for (const { frame_key: key } of moments)
    await world.c.media.put(key ?? '', new Uint8Array([1]), 'image/jpeg');
  let shown: readonly DescribedPicture[] = [];
  world.c.vision.answerAbout = async (pictures) => {
    shown = pictures;
    return { statements: [{ text: 'A giraffe came.', pictures: [1] }], tokens };
  };
  const answer = await ask('Was a giraffe there?');
  expect(answer).toMatchObject({ pictures: 24, model_calls: 1 });
  expect(shown).toHaveLength(24);
  expect(shown.filter(({ sentence }) => sentence === '1 giraffe').length).toBeGreaterThan(0);
  expect(shown.map(({ time }) => time <= after(600).toISOString())).toContain(true);
});

test('a question of another caller, a blank one or a foreign watch is a clear answer', async () => {
  const bob = await createClientFor(world, ['jobs'], 'bob');
  const theirs = (await bob.call('POST', '/moments/ask', { question: 'Was a dog there?' })).body;
  expect(theirs).toMatchObject({ answered: false, pictures: 0, model_calls: 0 });
  const foreign = await bob.call('POST', '/moments/ask', { question: 'Dogs?', watch_ids: [gate] });
  expect(foreign.status).toBe(404);
  expect((await ask(' ')).error.code).toBe('BAD_REQUEST');
});
