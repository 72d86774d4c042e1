import { expect, test } from 'vitest';
import { describeIgnored, findUnknownFields } from '../../../core/requests/unknown-fields.ts';
import { digestRequestSchema } from '../../../core/policies/digest/create.ts';
import { monitorRequestSchema } from '../../../core/policies/monitor/create.ts';

const monitor = Object.keys(monitorRequestSchema.shape);
const digest = Object.keys(digestRequestSchema.shape);
const given = { stream_url: 'x', condition: 'y' };
const suggestions = (name: string, known: string[]) =>
  findUnknownFields({ ...given, [name]: 1 }, known).find((field) => field.name === name)?.suggestions;

test.each([
  ['window_seconds', digest, ['window_minutes']],
  ['interval', monitor, ['interval_seconds']],
  ['intervalSeconds', monitor, ['interval_seconds']],
  ['max_trigers', monitor, ['max_triggers']],
  ['cooldown', monitor, ['trigger_cooldown_seconds']],
  ['url', monitor, ['webhook_url']],
  ['duration', monitor, ['clip_duration_seconds', 'monitor_duration_seconds']],
  ['color', monitor, []],
  ['q', monitor, []],
])('the unknown field %s suggests the nearest names of absent fields', (name, known, expected) => {
  expect(suggestions(name, known)).toEqual(expected);
});

test('a request with known fields only has none', () => {
  expect(findUnknownFields(given, monitor)).toEqual([]);
  expect(describeIgnored([])).toBeUndefined();
});

test('the description names the ignored fields and asks for the nearest ones', () => {
  const unknown = findUnknownFields({ window_seconds: 60, color: 'green' }, digest);
  expect(describeIgnored(unknown)).toBe('Ignored: window_seconds, color; did you mean window_minutes?');
  expect(describeIgnored(findUnknownFields({ color: 1 }, digest))).toBe('Ignored: color.');
});

test('a name from outside is repeated shortened and without control characters', () => {
  const long = findUnknownFields({ ['x'.repeat(5_000)]: 1, 'a\nb<c>': 1 }, monitor);
  expect(long.map(({ name }) => name)).toEqual([`${'x'.repeat(40)}…`, 'a?b?c?']);
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field_${index}`, 1]));
  expect(findUnknownFields(many, monitor)).toHaveLength(10);
});
