import { readdirSync, readFileSync } from 'node:fs';
import { format } from 'oxfmt';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { webhookEventTypeSchema } from '../../core/records/delivery.ts';
import { watchEventTypeSchema } from '../../core/records/watch-event.ts';
import { busEventSchemas } from '../support/bus-events.ts';

const folder = 'docs/operate/event-schemas';
const rules = 'docs/operate/event-rules.yaml';
const types = busEventSchemas.map(({ type }) => type);

describe('schemas of the event bus', () => {
  test('every type of event that webhooks or destinations receive has a schema, and a test alert has one', () => {
    const ofWatches = watchEventTypeSchema.exclude(['progress']).options;
    const delivered = [...webhookEventTypeSchema.options, ...ofWatches, 'test'];
    expect(types.toSorted()).toEqual(delivered.toSorted());
    expect(readdirSync(folder).toSorted()).toEqual(types.map((type) => `${type}.json`).toSorted());
  });

  test.each(busEventSchemas)(
    'the file in docs/operate/event-schemas has the schema of $type',
    async (event) => {
      const schema = { title: event.type, ...z.toJSONSchema(event.schema, { io: 'output' }) };
      const { code } = await format('schema.json', JSON.stringify(schema), { printWidth: 110 });
      await expect(code).toMatchFileSnapshot(`../../${folder}/${event.type}.json`);
    },
  );
});

describe('docs/operate/event-rules.yaml', () => {
  const text = readFileSync(rules, 'utf8');
  const known = new Set(busEventSchemas.flatMap(({ schema }) => paths(z.toJSONSchema(schema), '$.detail')));

  test('its rules match types that exist, and read fields that exist', () => {
    const matched = [...text.matchAll(/detail-type: \[(.+)\]/g)].flatMap(([, list = '']) => list.split(', '));
    expect(matched.length).toBeGreaterThan(3);
    expect(matched.filter((type) => !types.some((each) => each === type))).toEqual([]);
    const read = [...text.matchAll(/\$\.detail[\w.]+/g)].map(([path]) => path);
    expect(read.length).toBeGreaterThan(5);
    expect(read.filter((path) => !known.has(path))).toEqual([]);
  });
});

/** Returns the paths of all properties. */
function paths(schema: any, path: string): string[] {
  return Object.entries<any>(schema.properties ?? {}).flatMap(([name, inner]) => [
    `${path}.${name}`,
    ...paths(inner, `${path}.${name}`),
  ]);
}
