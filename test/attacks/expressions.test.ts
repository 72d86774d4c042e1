import { existsSync, globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { check } from 'recheck';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { mapConcurrently } from '../../adapters/vision/map-concurrently.ts';

/**
 * Regular expressions must take linear time: each of these folders meets texts of callers, cameras, models, receivers
 * or files.
 */

type Expression = { file: string; source: string; flags: string };

/**
 * Maximum time for an attack of 100 kB. Repetitions that are bounded, such as those of `redact`, look polynomial to the
 * analysis.
 */
const maxMs = 1000;
const attackLength = 100_000;

const files = globSync('{adapters,cli,client,console,core,functions}/**/*.{ts,tsx}', {
  exclude: ['**/{dist,node_modules}/**'],
});

/**
 * Verdict of the analysis by expression, which takes minutes for all: only expressions without a verdict are analyzed.
 * `-u` adds and removes lines; without the file, it analyzes all of them again.
 */
const verdictsFile = resolve(import.meta.dirname, 'expressions.verdicts.jsonl');
/** `attack` of an expression that looks polynomial: it is tried in each run. */
const verdictSchema = z.object({
  expression: z.string(),
  attack: z
    .object({ pumps: z.array(z.object({ prefix: z.string(), pump: z.string() })), suffix: z.string() })
    .optional(),
});

test('no regular expression takes polynomial time', { timeout: 900_000 }, async () => {
  const { literals, constructed } = readExpressions();
  const all = [...literals, ...(await recordConstructed(constructed))];
  const repeating = all.filter(({ source }) => /[*+]|,\}/.test(source));
  const unique = new Map(repeating.map((each) => [`/${each.source}/${each.flags}`, each]));
  const known = readVerdicts();
  const slow: string[] = [];
  const verdicts = await mapConcurrently(
    [...unique].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    2,
    async ([expression, { file, source, flags }]) => {
      const verdict = known.get(expression) ?? (await analyze(expression, source, flags));
      if (verdict === undefined) slow.push(`${file}: ${expression} is too complex to analyze`);
      if (verdict?.attack && !standsAttack(new RegExp(source, flags), verdict.attack))
        slow.push(`${file}: ${expression}, attacked by ${JSON.stringify(verdict.attack)}`);
      return verdict;
    },
  );
  expect(constructed.length).toBeGreaterThan(0);
  expect(slow).toEqual([]);
  const lines = verdicts.map((verdict) => `${JSON.stringify(verdict)}\n`).join('');
  await expect(lines).toMatchFileSnapshot(verdictsFile);
});

type Verdict = z.infer<typeof verdictSchema>;

function readVerdicts(): Map<string, Verdict> {
  if (!existsSync(verdictsFile)) return new Map();
  const lines = readFileSync(verdictsFile, 'utf8').trim().split('\n');
  return new Map(
    lines.map((line) => verdictSchema.parse(JSON.parse(line))).map((each) => [each.expression, each]),
  );
}

/** Returns undefined for an expression that is too complex. */
async function analyze(expression: string, source: string, flags: string): Promise<Verdict | undefined> {
  const found = await check(source, flags, { timeout: 120_000 });
  if (found.status === 'safe') return { expression };
  if (found.status === 'unknown') return undefined;
  const { pumps, suffix } = found.attack;
  return { expression, attack: { pumps: pumps.map(({ prefix, pump }) => ({ prefix, pump })), suffix } };
}

/** Doubles the attack until it is long enough, or the expression too slow. */
function standsAttack(expression: RegExp, { pumps, suffix }: NonNullable<Verdict['attack']>): boolean {
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
    // Another test of this process may have imported them: the query makes them new modules.
    for (const path of paths) await import(`${pathToFileURL(resolve(path)).href}?recorded`);
  } finally {
    globalThis.RegExp = original;
  }
  return found;
}
