import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sourceKinds } from '../../../../adapters/aws/usage-units.ts';
import { countStreams, executionsPerStream } from '../../../../lib/operations/preflight/capacity.ts';

test('the table of docs/operate/cost.md has the streams that preflight counts', () => {
  const rows = sourceKinds.flatMap((source) =>
    (['frames', 'clip', 'hybrid'] as const).map((mode) => {
      const each = executionsPerStream(source, mode, 10);
      const count = (reserved: Parameters<typeof countStreams>[1]) =>
        countStreams(1000, reserved, { source, mode, intervalSeconds: 10 });
      const numbers = [count({}), count({ capture: 100, api: 250 })].map(String);
      return [`\`${source}\``, `\`${mode}\``, (each.capture + each.analyze).toFixed(2), ...numbers];
    }),
  );
  const page = readFileSync('docs/operate/cost.md', 'utf8').split('## Capacity')[1]!.split('\n## ')[0]!;
  const cells = [...page.matchAll(/^\| `.*$/gm)].map(([line]) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  expect(cells).toEqual(rows);
});
