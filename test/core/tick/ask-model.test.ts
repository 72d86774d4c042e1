import { expect, test } from 'vitest';
import { ModelBusyError } from '../../../core/errors.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import type { WatchCondition } from '../../../core/records/watch.ts';
import { askModel } from '../../../core/tick/ask-model.ts';

const condition: WatchCondition = {
  condition_id: 'gate',
  condition: 'The gate is open.',
  checks_to_open: 2,
  checks_considered: 3,
  checks_to_close: 3,
  cooldown_seconds: 0,
  remind_seconds: null,
  severity: 'warning',
};

function visionThat(judged: boolean | undefined): VisionModel {
  const tokens = { input_tokens: 0, output_tokens: 0 };
  return {
    provider: 'scripted',
    model: 'scripted',
    supportsVideo: false,
    judge: async () => ({ triggered: false, explanation: 'It is hidden.', judged, tokens }),
    answer: async () => expect.unreachable(),
    summarize: async () => expect.unreachable(),
  };
}

test.each([
  { judged: false, verdict: null },
  { judged: undefined, verdict: { triggered: false, explanation: 'It is hidden.' } },
])(
  'an answer with judged $judged is the verdict $verdict: what was not judged never clears an alert',
  async ({ judged, verdict }) => {
    const deps = { vision: visionThat(judged), limits: { visionTimeoutSeconds: 10 } };
    const media = { mode: 'frames' as const, frame: new Uint8Array() };
    const { answers } = await askModel({ joint: [], separate: [condition] }, media, deps);
    expect(answers).toMatchObject([{ condition_id: 'gate', verdict }]);
  },
);

test('a call that the model of this machine is too busy for is no failure, costs nothing and leaves no verdict', async () => {
  const vision = {
    ...visionThat(true),
    judge: async () => {
      throw new ModelBusyError();
    },
  };
  const media = { mode: 'frames' as const, frame: new Uint8Array() };
  const deps = { vision, limits: { visionTimeoutSeconds: 10 } };
  expect(await askModel({ joint: [], separate: [condition] }, media, deps)).toEqual({
    answers: [
      { condition_id: 'gate', condition: 'The gate is open.', verdict: null, leftOut: false, joint: false },
    ],
    failure: null,
    busy: true,
    calls: [],
  });
});
