import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { statuses } from '../../adapters/http/error-envelope.ts';
import { endpoints } from '../../adapters/http/endpoints/endpoints.ts';
import { listSettings } from '../../cli/settings.ts';
import { digestRequestSchema } from '../../core/policies/digest/create.ts';
import { monitorRequestSchema } from '../../core/policies/monitor/create.ts';
import { metricUnits } from '../../core/ports/observability.ts';
import { watchRequestSchema } from '../../core/requests/watches.ts';
import { stageSettingsSchema } from '../../lib/stages/stage-settings.ts';

/**
 * Reference lists of the pages. A line is "- `name` (facts): meaning", with one name or several of the same meaning.
 * `npm run generate -- reference` writes the facts, and the meaning if it is in the code. The page decides order and
 * grouping.
 */

type Entry = { facts: string; meaning?: string };

const stream_url = 'https://example.com/live.m3u8';
const condition = { condition: 'A ship' };
const watch = { name: 'Gate', stream_url, conditions: [condition] };

const chapters: Record<string, Record<string, Record<string, Entry>>> = {
  'docs/operate/configuration.md': {
    'One machine': Object.fromEntries(
      listSettings().map(({ variable, fallback, text, schema }) => [
        variable,
        {
          facts: [toCode(fallback || undefined), toLimits(toJson(schema), fallback)]
            .filter(Boolean)
            .join('; '),
          meaning: text,
        },
      ]),
    ),
    'A stage on AWS': ofSchema(stageSettingsSchema, {}),
  },
  'docs/use/api-reference.md': {
    Endpoints: Object.fromEntries(
      endpoints.map(({ method, path, scope, rateLimit }) => [
        `${method.toUpperCase()} ${path}`,
        { facts: '', meaning: [scope, rateLimit ?? []].flat().join(', ') },
      ]),
    ),
    'POST /live-monitor': ofSchema(monitorRequestSchema, { stream_url, ...condition }),
    'POST /live-digest': ofSchema(digestRequestSchema, { stream_url }),
    Errors: Object.fromEntries(
      Object.entries(statuses).map(([code, status]) => [code, { facts: `${status}` }]),
    ),
  },
  'docs/use/watches.md': {
    Fields: {
      ...ofSchema(watchRequestSchema, watch),
      ...toEntries(
        toJson(watchRequestSchema).properties.conditions.items.properties,
        condition,
        watchRequestSchema.parse(watch).conditions[0] ?? {},
      ),
    },
  },
};

describe.each(Object.entries(chapters))('the reference lists of %s', (page, entries) => {
  const parts = readFileSync(page, 'utf8').split(/(?=^## )/m);
  const line = /^- ((?:(?:, )?`[^`]+`(?: \([^)]*\))?)+): (.*)$/gm;
  const named = /`([^`]+)`(?: \([^)]*\))?/g;

  test.each(Object.keys(entries))('"%s" has each name of the code once, and no other', (heading) => {
    const chapter = parts.find((part) => part.startsWith(`## ${heading}\n`)) ?? '';
    const names = [...chapter.matchAll(line)].flatMap(([, listed = '']) =>
      [...listed.matchAll(named)].map(([, name = '']) => name),
    );
    expect(names.toSorted()).toEqual(Object.keys(entries[heading] ?? {}).toSorted());
  });

  test('the facts are those of the code (npm run generate -- reference)', async () => {
    const rewritten = parts.map((part) => {
      const chapter = entries[/^## (.*)$/m.exec(part)?.[1] ?? ''] ?? {};
      return part.replaceAll(line, (_, listed: string, meaning: string) => {
        const names = listed.replaceAll(named, (text, name: string) => {
          const { facts } = chapter[name] ?? {};
          return facts === undefined ? text : `\`${name}\`${facts && ` (${facts})`}`;
        });
        const meanings = [...listed.matchAll(named)].map(
          ([, name = '']) => chapter[name]?.meaning ?? meaning,
        );
        expect(new Set(meanings), `${names} on one line`).toHaveProperty('size', 1);
        return `- ${names}: ${meanings[0]}`;
      });
    });
    await expect(rewritten.join('')).toMatchFileSnapshot(`../../${page}`);
  });
});

test('docs/operate/aws.md names each metric', () => {
  const page = readFileSync('docs/operate/aws.md', 'utf8');
  expect(Object.keys(metricUnits).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

function toJson(schema: z.ZodType): any {
  return z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
}

/** Returns an entry for each field. What the shortest object has is required. */
function toEntries(
  properties: Record<string, any>,
  shortest: Record<string, unknown>,
  parsed: Record<string, any>,
): Record<string, Entry> {
  const facts = (name: string) =>
    name in shortest
      ? ['required', toLimits(properties[name], undefined)]
      : [toCode(parsed[name]), toLimits(properties[name], parsed[name])];
  const entries = Object.keys(properties).map((name) => [
    name,
    { facts: facts(name).filter(Boolean).join('; ') },
  ]);
  return Object.fromEntries(entries);
}

function ofSchema(schema: z.ZodType, shortest: Record<string, unknown>): Record<string, Entry> {
  return toEntries(toJson(schema).properties, shortest, schema.parse(shortest) as any);
}

function toCode(fallback: unknown): string {
  if (fallback === undefined) return '';
  return `\`${typeof fallback === 'string' ? fallback : JSON.stringify(fallback)}\``;
}

/** Returns limits: "5 to 300", or the words besides the default. */
function toLimits(schema: any, fallback: unknown): string {
  const bounded = schema.anyOf?.find(({ type }: any) => type !== 'null') ?? schema;
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, enum: words = [] } = bounded;
  if (words.length > 0 && words.length < 10)
    return words.flatMap((word: string) => (word === fallback ? [] : `\`${word}\``)).join(', ');
  const [least, most] = [minimum ?? minLength ?? minItems, maximum ?? maxLength ?? maxItems];
  if (most !== undefined && most < Number.MAX_SAFE_INTEGER)
    return `${least ?? 0} to ${most}${maxLength === undefined ? '' : ' characters'}`;
  return minimum > 0 ? `at least ${minimum}` : '';
}
