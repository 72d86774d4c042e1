import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { watchRequestSchema } from '../../core/requests/watches.ts';
import { monitorRequestSchema } from '../../core/policies/monitor/create.ts';
import { policyEvents } from '../../core/policies/records.ts';

/** JSON of the pages, compared with the schemas of the API: no value is lost, and each has its field. */

const examples: [page: string, schemas: z.ZodType[]][] = [
  ['docs/use/events.md', [policyEvents.watch_triggered.streamed]],
  ['docs/use/api-reference.md', [monitorRequestSchema]],
];

describe.each(examples)('the JSON of %s', (page, schemas) => {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```json\n(.*?)^```/gms)].map(
    ([, text = '']) => text,
  );

  test('each block of the page has a schema', () => {
    expect(blocks).toHaveLength(schemas.length);
  });

  test.each(schemas.map((schema, index) => [index + 1, schema] as const))(
    'the block %i of the page fits its schema',
    (number, schema) => {
      const value: unknown = JSON.parse(blocks[number - 1] ?? '');
      expect(schema.parse(value)).toMatchObject(value as object);
    },
  );
});

test('the watch of the recipe fits the schema of a watch', () => {
  const page = readFileSync('docs/use/person-at-night.md', 'utf8');
  const yaml = /^```yaml\n(.*?)^```/ms.exec(page)?.[1] ?? '';
  const filled = yaml
    .replace('${DOOR_STREAM}', 'rtsp://camera.example/stream')
    .replace('${SLACK_URL}', 'https://hooks.slack.com/services/T/B/x');
  for (const watch of parse(filled).watches) expect(watchRequestSchema.parse(watch)).toMatchObject(watch);
});
