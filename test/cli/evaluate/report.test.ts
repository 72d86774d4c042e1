import { expect, test } from 'vitest';
import { createEvaluationReport } from '../../../cli/evaluate/report.ts';

test('a report shows hostile names, conditions and explanations as text', async () => {
  const hostile = '</title><script>alert(1)</script><img src=x onerror=alert(1)>" \'';
  const example = {
    id: hostile,
    picture: 'a.jpg',
    condition: hostile,
    expected: 'yes',
    tags: [],
  } as const;
  const none = { value: null, low: 0, high: 1 };
  const score = { precision: none, recall: none, f1: none, not_judged: 0, unclear_triggered: 0, unclear: 0 };
  const result = {
    model: hostile,
    mode: 'frames',
    prompt: undefined,
    score,
    usd: null,
    p50_ms: 1,
    p95_ms: 2,
    unstable: [hostile],
    mistakes: [{ example: hostile, condition: hostile, expected: 'yes', explanation: hostile }],
  };
  const page = await createEvaluationReport(
    hostile,
    [result as never],
    [{ ...example, tags: [] }],
    async () => ({
      mode: 'frames',
      frame: new Uint8Array([255, 216]),
    }),
  );
  expect(page).toContain('&lt;script&gt;alert(1)');
  expect(page).not.toMatch(/<script|<img src=x|alt="[^"]*<|<\/title><script/);
});
