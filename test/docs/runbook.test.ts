import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(path, 'utf8');

test('every emphasized name of the runbook is a panel of the dashboard or a query of operate-aws', () => {
  const names = [...read('docs/operate/runbook.md').matchAll(/(?<![\w`])_([^_\n]+)_(?!\w)/g)];
  expect(names.length).toBeGreaterThan(8);
  const dashboard = read('lib/operations/alarms/dashboard.ts');
  const queries = read('docs/operate/operate-aws.md');
  const unknown = names.filter(
    ([, name = '']) => !dashboard.includes(`'${name}'`) && !queries.includes(`\n# ${name}\n`),
  );
  expect(unknown.map(([, name]) => name)).toEqual([]);
});
