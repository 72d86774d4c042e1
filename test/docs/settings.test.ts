import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { listSettings, readSettings } from '../../cli/settings.ts';
import { stageSettingsSchema } from '../../lib/stages/stage-settings.ts';

const page = readFileSync('docs/operate/configuration.md', 'utf8');

/** Returns the rows of the table below a heading, by the name in their first cell. */
function rowsBelow(heading: string): Map<string, string[]> {
  const chapter = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  const rows = chapter.split('\n').filter((line) => line.startsWith('| `'));
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(cells.map(([name = '', ...rest]) => [name.replaceAll('`', ''), rest]));
}

/** Verifies documented limits: a range accepts its ends and nothing beyond, a list only its values. Returns the kind. */
function holds(limits: string, takes: (value: string) => boolean): string {
  const [, least, most] = /^(\d+) to (\d+)$/.exec(limits) ?? [];
  if (least !== undefined && most !== undefined) {
    expect([least, most].map(takes)).toEqual([true, true]);
    expect([String(Number(least) - 1), String(Number(most) + 1)].map(takes)).toEqual([false, false]);
    return 'range';
  }
  const words = [...limits.matchAll(/`([\w-]+)`/g)].map(([, word = '']) => word);
  if (words.length < 2) return 'text';
  expect(words.map(takes)).toEqual(words.map(() => true));
  expect(takes('something-else')).toBe(false);
  return 'words';
}

describe('settings of one machine', () => {
  const rows = rowsBelow('One machine');

  test('docs/operate/configuration.md lists exactly the settings of one machine', () => {
    expect([...rows.keys()].toSorted()).toEqual(
      listSettings()
        .map(({ variable }) => variable)
        .toSorted(),
    );
  });

  test.each(listSettings())(
    'docs/operate/configuration.md has default, meaning and limits of $variable as in the code',
    (setting) => {
      const [fallback, limits = '', meaning] = rows.get(setting.variable) ?? [];
      expect({ fallback, meaning }).toEqual({
        fallback: setting.fallback === '' ? '' : `\`${setting.fallback}\``,
        meaning: setting.text,
      });
      expect(setting.flag).toBe(
        setting.variable.replace('WATCHPOST_', '--').toLowerCase().replaceAll('_', '-'),
      );
      const kind = holds(limits, (value) => {
        try {
          readSettings({}, { [setting.variable]: value });
          return true;
        } catch {
          return false;
        }
      });
      const isNumber = typeof Object.entries(readSettings({}, {})).find(
        ([name]) => name === setting.name,
      )?.[1];
      expect(kind === 'range').toBe(isNumber === 'number');
    },
  );
});

describe('settings of a stage', () => {
  const rows = rowsBelow('A stage on AWS');
  const [, sentence = ''] = /default and limits, as [^:]*: (.*)\.$/m.exec(page) ?? [];
  const shared = [...sentence.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  const defaults: Record<string, unknown> = stageSettingsSchema.parse({});

  test('docs/operate/configuration.md lists exactly the settings of a stage', () => {
    expect([...rows.keys(), ...shared].toSorted()).toEqual(Object.keys(stageSettingsSchema.shape).toSorted());
  });

  test.each(shared)('%s of a stage has default and limits of the setting of one machine', (name) => {
    const ofOneMachine = listSettings().find((setting) => setting.name === name);
    expect(String(defaults[name])).toBe(ofOneMachine?.fallback);
    const [, limits = ''] = rowsBelow('One machine').get(ofOneMachine?.variable ?? '') ?? [];
    const takes = (text: string) =>
      stageSettingsSchema.safeParse({ [name]: /^-?\d+$/.test(text) ? Number(text) : text }).success;
    expect(holds(limits, takes)).not.toBe('text');
  });

  test.each([...rows])(
    'docs/operate/configuration.md has default and limits of %s as in the code',
    (name, [fallback = '', limits = '']) => {
      const value = defaults[name];
      // A setting without a default in the schema is described in words.
      if (value === undefined) expect(fallback).not.toMatch(/^`["\d[{]|true|false/);
      else expect(fallback).toBe(`\`${JSON.stringify(value)}\``);
      const kind = holds(limits, (text) => {
        const given = /^-?\d+$/.test(text) ? Number(text) : text;
        return stageSettingsSchema.safeParse({ [name]: given }).success;
      });
      if (typeof value === 'number' && name !== 'logDays') expect(kind).toBe('range');
    },
  );
});
