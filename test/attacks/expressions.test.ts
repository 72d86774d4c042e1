import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { check } from 'recheck';
import type { AttackPattern } from 'recheck';
import { expect, test } from 'vitest';
import { mapConcurrently } from '../../adapters/vision/map-concurrently.ts';

/** Regular expressions must take linear time: each of these folders meets texts of callers, cameras, models, receivers or files. */

type Expression = { file: string; source: string; flags: string };

/** Maximum time for an attack of 100 kB. Repetitions that are bounded, such as those of `redact`, look polynomial to the analysis. */
const maxMs = 1000;
const attackLength = 100_000;

const files = globSync('{adapters,cli,client,console,core,functions}/**/*.{ts,tsx}', {
  exclude: ['**/{dist,node_modules}/**'],
});

test('no regular expression takes polynomial time', { timeout: 900_000 }, async () => {
  const { literals, constructed } = readExpressions();
  const all = [...literals, ...(await recordConstructed(constructed))];
  const repeating = all.filter(({ source }) => /[*+]|,\}/.test(source));
  const unique = new Map(repeating.map((each) => [`/${each.source}/${each.flags}`, each]));
  const slow: string[] = [];
  await mapConcurrently([...unique], 2, async ([text, { file, source, flags }]) => {
    const found = await check(source, flags, { timeout: 120_000 });
    if (found.status === 'unknown') slow.push(`${file}: ${text} is too complex to analyze`);
    if (found.status === 'vulnerable' && !standsAttack(new RegExp(source, flags), found.attack))
      slow.push(`${file}: ${text}, attacked by ${found.attack.pattern}`);
  });
  expect(constructed.length).toBeGreaterThan(0);
  expect(slow).toEqual([]);
});

/** Doubles the attack until it is long enough, or the expression too slow. */
function standsAttack(expression: RegExp, { pumps, suffix }: AttackPattern): boolean {
  for (let repeats = 100, length = 0; length < attackLength; repeats *= 2) {
    const text = pumps.map(({ prefix, pump }) => prefix + pump.repeat(repeats)).join('') + suffix;
    length = text.length;
    const startedAt = performance.now();
    expression.exec(text);
    if (performance.now() - startedAt > maxMs) return false;
  }
  return true;
}

/** Returns the literals, and the files that construct expressions from texts. */
function readExpressions(): { literals: Expression[]; constructed: string[] } {
  const literals: Expression[] = [];
  const constructed = new Set<string>();
  for (const file of files) {
    const { program } = parseSync(file, readFileSync(file, 'utf8'));
    new Visitor({
      Literal: (node) => {
        if ('regex' in node) literals.push({ file, source: node.regex.pattern, flags: node.regex.flags });
      },
      NewExpression: ({ callee }) => {
        if (callee.type === 'Identifier' && callee.name === 'RegExp') constructed.add(file);
      },
    }).visit(program);
  }
  return { literals, constructed: [...constructed] };
}

/** Returns the expressions that these files construct when they are imported. */
async function recordConstructed(paths: readonly string[]): Promise<Expression[]> {
  const found: Expression[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct: (target, [source, flags]: [string, string | undefined]) => {
      const file = paths.find((path) => new Error().stack?.includes(resolve(path)));
      if (file !== undefined) found.push({ file, source, flags: flags ?? '' });
      return new target(source, flags);
    },
  });
  try {
    for (const path of paths) await import(resolve(path));
  } finally {
    globalThis.RegExp = original;
  }
  return found;
}
