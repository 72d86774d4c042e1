import { expect, test } from 'vitest';
import { createReplayReport } from '../../../cli/replay/report.ts';

const hostile = '</title></text></title><script>alert(1)</script><img src=x onerror=alert(1)>" \'';
const [frame, drawn] = [new Uint8Array([255, 216]), new Uint8Array([255, 216, 7])];

function createReplay(model: string) {
  const times = { opened_seconds: 1, closed_seconds: 3 };
  const alert = { condition_id: hostile, ...times, explanation: hostile };
  const boxes = [{ label: hostile, score: 1, box: [0, 0, 1, 1] }];
  return {
    result: {
      interval_seconds: 10,
      input_mode: 'frames',
      model,
      recording_seconds: 10,
      played_seconds: 10,
      checks: [{ seconds: 1, condition_id: hostile, triggered: true, explanation: hostile }],
      alerts: [alert],
      coverage: 1,
      model_calls: 1,
      tokens: { input_tokens: 0, output_tokens: 0 },
      cost: null,
    },
    played: { alerts: [{ ...alert, frame, boxes }], motion: [{ seconds: 1, share: 0.5 }] },
    conditions: new Map([[hostile, hostile]]),
  };
}

test.each([1, 2])(
  'a report of %d replays shows hostile files, models, conditions and explanations as text',
  async (count) => {
    const replays = Array.from({ length: count }, () => createReplay(hostile));
    const page = await createReplayReport([hostile], replays as never, async () => drawn);
    // Per replay: the model, the alt text and the caption of the alert, its explanation, and condition and explanation
    // of the time line.
    expect(page.match(/&lt;script&gt;alert\(1\)/g)).toHaveLength(1 + count * 6);
    expect(page).toContain(Buffer.from(drawn).toString('base64'));
    expect(page).not.toMatch(/<script|<img src=x|<\/title><\/text>|alt="[^"]*[<>]/);
  },
);
