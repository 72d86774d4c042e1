import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { busMessageSchema, deliveryMessageSchema } from '../../core/records/delivery.ts';
import { rules } from '../../core/rules.ts';

const read = (path: string) => readFileSync(path, 'utf8');

test('every emphasized name of the runbook is a panel of the dashboard or a query of docs/operate/aws.md', () => {
  const names = [...read('docs/operate/runbook.md').matchAll(/(?<![\w`])_([^_\n]+)_(?!\w)/g)];
  expect(names.length).toBeGreaterThan(8);
  const dashboard = read('lib/operations/alarms/dashboard.ts');
  const queries = read('docs/operate/aws.md');
  const unknown = names.filter(
    ([, name = '']) => !dashboard.includes(`'${name}'`) && !queries.includes(`\n# ${name}\n`),
  );
  expect(unknown.map(([, name]) => name)).toEqual([]);
});

test('the runbook has the fields of the messages of the queue, and the attempts of jobs and watches', () => {
  const [, section = ''] = /^## Dead letters$([^]*?)^## /m.exec(read('docs/operate/runbook.md')) ?? [];
  const messages = [...section.matchAll(/`\{([^}`]+)\}`/g)].map(([, fields = '']) => fields.split(', '));
  const requiredFields = ({ shape }: typeof deliveryMessageSchema | typeof busMessageSchema) =>
    Object.entries(shape).flatMap(([name, field]) => (field.safeParse(undefined).success ? [] : [name]));
  expect(messages.map((fields) => fields.toSorted())).toEqual(
    [deliveryMessageSchema, busMessageSchema].map((schema) => requiredFields(schema).toSorted()),
  );
  const attempts = [rules.retryWaitSeconds, rules.destinationWaitSeconds].map(({ length }) => length + 1);
  expect(attempts).toEqual([4, 10]);
  expect(section).toMatch(/a job's event has four attempts, a watch's ten/);
});
