import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sourceKinds } from '../../../../adapters/aws/usage-units.ts';
import { countStreams, executionsPerStream } from '../../../../lib/operations/preflight/quotas.ts';

test('docs/operate/cost.md has the streams that preflight counts', () => {
  const page = readFileSync('docs/operate/cost.md', 'utf8').split('## Capacity')[1]!.split('\n## ')[0]!;
  const documented = [...page.matchAll(/^- `.*$/gm)].map(([line]) => line.replaceAll('100 of 350', ''));
  const expected = sourceKinds.map((source) => {
    const modes = ['frames', 'clip', 'hybrid'] as const;
    const executions = modes.map((mode) => {
      const { capture, analyze } = executionsPerStream(source, mode, 10);
      return (capture + analyze).toFixed(2);
    });
    const streams = (reserved: Parameters<typeof countStreams>[1]) =>
      modes.map((mode) => String(countStreams(1000, reserved, { source, mode, intervalSeconds: 10 })));
    return [...executions, ...streams({}), ...streams({ capture: 100, api: 250 })];
  });
  expect(documented.map((line) => line.match(/\d[\d.]*/g))).toEqual(expected);
});
