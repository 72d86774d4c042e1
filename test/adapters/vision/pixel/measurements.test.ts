import { describe, expect, test } from 'vitest';
import { jpeg, measuring, mp4, timeout } from './pictures.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';

const grey = 'color=0x808080:s=1280x720:r=8';
const withBox = (color: string, side: number) =>
  `${grey},drawbox=x=400:y=200:w=${side}:h=${side}:color=${color}:t=fill`;
const pictures = {
  grey: jpeg(`${grey},noise=alls=12:allf=t`),
  redBox: jpeg(`${withBox('red', 160)},noise=alls=12:allf=t`),
  tinyRedBox: jpeg(withBox('red', 40)),
  mostlyRed: jpeg('color=red:s=1280x720,drawbox=x=0:y=0:w=400:h=720:color=gray:t=fill'),
  redAndBlue: jpeg(`${withBox('red', 160)},drawbox=x=900:y=200:w=160:h=160:color=blue:t=fill`),
  black: jpeg('color=black:s=1280x720'),
  night: jpeg(
    'color=0x101010:s=1280x720,drawbox=x=600:y=300:w=80:h=200:color=0x404040:t=fill,noise=alls=8:allf=t',
  ),
  day: jpeg('color=skyblue:s=1280x720,drawbox=x=0:y=360:w=1280:h=360:color=0x70b050:t=fill'),
  testCard: jpeg('testsrc2=s=1280x720'),
};

const looksAt = async (name: keyof typeof pictures, condition: string) =>
  judgeCondition(measuring, { mode: 'frames', frame: pictures[name] }, { condition }, timeout());

describe('measurements of a frame', () => {
  test.each<[keyof typeof pictures, string, boolean]>([
    ['redBox', 'Is there a red rectangle?', true],
    ['redBox', 'a large red area is visible', true],
    ['redBox', 'The picture is mostly red', false],
    ['redBox', 'the screen turns red', false],
    ['redBox', 'Something red appears', true],
    ['redBox', 'a red light is on', true],
    ['redBox', 'at least 2% of the picture is red', true],
    ['redBox', 'more than 5 percent is red', false],
    ['redBox', 'no red is visible', false],
    ['redBox', 'there is no blue object', true],
    ['redBox', 'a red box and a blue box', false],
    ['redBox', 'a red box or a blue box', true],
    ['redBox', 'pink or purple is visible', false],
    ['redBox', "the red object isn't there", false],
    ['redBox', 'the blue box is gone', true],
    ['redBox', 'A red box is in front of the house', true],
    ['tinyRedBox', 'a red box appears', false],
    ['tinyRedBox', 'a small red box appears', true],
    ['redAndBlue', 'red and blue are visible', true],
    ['redAndBlue', 'there is neither green nor yellow', true],
    ['redAndBlue', 'no red or blue', false],
    ['redAndBlue', 'purple', false],
    ['grey', 'Is there a red rectangle?', false],
    ['grey', 'red has disappeared', true],
    ['grey', 'the picture is entirely grey', true],
    ['mostlyRed', 'The picture is mostly red', true],
    ['mostlyRed', 'the screen is red', true],
    ['mostlyRed', 'everything is red', false],
    ['mostlyRed', 'half of the picture is red', true],
    ['mostlyRed', 'less than half of the picture is red', false],
    ['mostlyRed', 'a red screen', true],
    ['black', 'the screen goes black', true],
    ['black', 'it is dark', true],
    ['black', 'the lights went out', true],
    ['black', 'blank picture', true],
    ['night', 'it is dark outside', true],
    ['night', 'the picture is blank', false],
    ['night', 'The lights are on', false],
    ['day', 'it is dark', false],
    ['day', 'not dark', true],
    ['day', 'daylight', true],
    ['day', 'the picture is bright and green', true],
    ['testCard', 'the picture is mostly red', false],
    ['testCard', 'the screen is blue', false],
  ])('the frame %s is judged for "%s" as %s', async (name, condition, triggered) => {
    const verdict = await looksAt(name, condition);
    expect(verdict, verdict.explanation).toMatchObject({
      triggered,
      tokens: { input_tokens: 0, output_tokens: 0 },
    });
  });

  test('an explanation contains the measured values and their origin', async () => {
    const { explanation } = await looksAt('redBox', 'a red box near the house at night');
    expect(explanation).toMatch(/Red covers 2\.\d % of the frame \(largest region 2\.\d %/);
    expect(explanation).toContain("Not judged: 'near the house', 'at night'.");
    expect(explanation).toContain('built-in model, which is not a vision-language model');
  });

  test.each(['a person falls', 'somebody opens the door', 'the dog barks and there is red', ''])(
    '"%s" is not measurable, and the explanation recommends a vision-language model',
    async (condition) => {
      const { triggered, explanation } = await looksAt('redBox', condition);
      expect(triggered).toBe(false);
      expect(explanation).toContain(' WATCHPOST_VISION=bedrock');
    },
  );

  test('a single frame shows no motion, and the explanation recommends clip mode', async () => {
    const { triggered, explanation } = await looksAt('redBox', 'something moves');
    expect(triggered).toBe(false);
    expect(explanation).toContain('input_mode clip');
    expect((await looksAt('redBox', 'nothing moves')).triggered).toBe(false);
  });

  test('an explanation has at most 600 characters and keeps the disclosure', async () => {
    const { explanation } = await looksAt(
      'testCard',
      `${'red and blue and green and yellow and '.repeat(20)}white ${'x'.repeat(400)}`,
    );
    expect(explanation.length).toBeLessThanOrEqual(600);
    expect(explanation).toContain('not a vision-language model');
  });
});

const clips = {
  still: mp4(`${withBox('red', 160)},noise=alls=10:allf=t`),
  moving: mp4(
    `${grey},noise=alls=10:allf=t[bg];color=red:s=160x160:r=8[box];[bg][box]overlay=x='100+200*t':y=200`,
  ),
  appears: mp4(`${grey},drawbox=x=400:y=200:w=160:h=160:color=green:t=fill:enable='gte(t,1.5)'`),
};

const looksAtClip = (name: keyof typeof clips, condition: string) =>
  judgeCondition(
    measuring,
    { mode: 'clip', frame: pictures.grey, clip: clips[name] },
    { condition },
    timeout(),
  );

describe('measurements of a clip', () => {
  test.each<[keyof typeof clips, string, boolean]>([
    ['moving', 'something moves', true],
    ['moving', 'a red object is moving', true],
    ['moving', 'a blue object is moving', false],
    ['moving', 'the scene is static', false],
    ['still', 'is there any movement?', false],
    ['still', 'nothing moves', true],
    ['still', 'the picture is frozen', true],
    ['appears', 'something green appears', true],
    ['appears', 'the picture changes', true],
  ])('the clip %s is judged for "%s" as %s', async (name, condition, triggered) => {
    const verdict = await looksAtClip(name, condition);
    expect(verdict, verdict.explanation).toMatchObject({ triggered });
  });

  test('an explanation contains the time in the clip at which the condition holds', async () => {
    expect((await looksAtClip('appears', 'green')).explanation).toMatch(
      /At 1\.5 s of the clip: Green covers/,
    );
  });

  test('the frame counts in hybrid mode', async () => {
    const look = { mode: 'hybrid' as const, frame: pictures.redBox, clip: clips.appears };
    expect((await judgeCondition(measuring, look, { condition: 'a red box' }, timeout())).triggered).toBe(
      true,
    );
    expect(
      (await judgeCondition(measuring, { ...look, mode: 'clip' }, { condition: 'a red box' }, timeout()))
        .triggered,
    ).toBe(false);
  });
});

describe('measurements of a question', () => {
  test('a measurable question gets yes or no', async () => {
    const yes = await measuring.answer(pictures.redBox, 'Is there something red?', timeout());
    expect(yes).toMatchObject({ triggered: true, answer: expect.stringMatching(/^Yes\. Red covers/) });
    const no = await measuring.answer(pictures.redBox, 'Is it dark?', timeout());
    expect(no).toMatchObject({ triggered: false, answer: expect.stringMatching(/^No\. Mean brightness is/) });
  });

  test('an open question gets the measured values', async () => {
    const { answer, triggered } = await measuring.answer(
      pictures.mostlyRed,
      'What colour is this?',
      timeout(),
    );
    expect(triggered).toBeNull();
    expect(answer).toMatch(/68\.\d % red, 31\.\d % grey/);
  });

  test('a condition without measurable words is not judged, and no frame changes that', async () => {
    expect(await looksAt('redBox', 'Somebody is asleep')).toMatchObject({ triggered: false, judged: false });
    expect(await looksAt('redBox', 'a red box is visible')).not.toHaveProperty('judged');
    const reason = (condition: string) => measuring.capabilities.readCondition(condition).reasonNotToJudge;
    expect(reason('Somebody is asleep')).toMatch(/packages for objects are not installed/);
    expect(measuring.capabilities.conditionExamples.map(reason)).toEqual([null, null, null]);
  });

  test('an unmeasurable question is reported as such', async () => {
    const { answer, triggered, judged } = await measuring.answer(
      pictures.redBox,
      'Is somebody asleep?',
      timeout(),
    );
    expect(triggered).toBeNull();
    expect(judged).toBe(false);
    expect(answer).toContain('Cannot be checked');
  });
});

const at = (second: number, frame: Uint8Array) => ({
  frame,
  capturedAt: new Date(Date.UTC(2026, 0, 1, 12, 0, second)),
});

describe('measurements of a summary', () => {
  test('a summary describes the scene and its changes', async () => {
    const samples = [
      at(0, pictures.grey),
      at(10, pictures.grey),
      at(20, pictures.redBox),
      at(30, pictures.redBox),
    ];
    const { summary } = await measuring.summarize(samples, timeout());
    expect(summary).toContain('4 samples from 12:00:00 UTC to 12:00:30 UTC');
    expect(summary).toMatch(
      /At 12:00:20 UTC 2\.\d % of the frame had changed; it was 97\.\d % grey, 2\.\d % red/,
    );
    expect(summary.match(/had changed/g)).toHaveLength(1);
  });

  test('a summary of a static scene reports no change', async () => {
    const { summary } = await measuring.summarize([at(0, pictures.day), at(10, pictures.day)], timeout());
    expect(summary).toContain('No change exceeded');
  });

  test('a summary omits an undecodable sample and reports it', async () => {
    const samples = [at(0, pictures.grey), at(10, new Uint8Array([1, 2, 3])), at(20, pictures.redBox)];
    const { summary } = await measuring.summarize(samples, timeout());
    expect(summary).toMatch(/^1 of 3 samples could not be decoded\. 2 samples from/);
    expect(summary).toMatch(/At 12:00:20 UTC 2\.\d % of the frame had changed/);
  });

  test('a summary without samples reports that it has no samples', async () => {
    expect((await measuring.summarize([], timeout())).summary).toContain('no samples');
  });
});

test('an undecodable frame is a VisionError', async () => {
  const look = { mode: 'frames' as const, frame: new Uint8Array([1, 2, 3]) };
  await expect(judgeCondition(measuring, look, { condition: 'red' }, timeout())).rejects.toMatchObject({
    name: 'VisionError',
  });
});
