/**
 * Usage of a script, as the comment at its top states it after `Usage:`: the arguments in their order, and a line for
 * each option, with its default or an example. `40` stands for any number, `8,6,4` for several, `40x40` for two,
 * `with|without` for one of these words, other words for any text; arguments in brackets may be missing, and before
 * `…]` there may be several.
 */
export type Usage = { text: string; command: string; options: Map<string, string>; arguments: string[] };

/** Parses the first comment with a usage, or else the first comment, whose script has no arguments. */
export function parseUsage(source: string): Usage {
  const comments = Array.from(source.matchAll(/^\/\*\*(.*?)\*\//gms), ([, comment = '']) =>
    comment.replaceAll(/^ \* ?/gm, '').trim(),
  );
  const text = comments.find((comment) => comment.includes('Usage:')) ?? comments[0] ?? '';
  const [, line = ''] = /^Usage: (.*)$/m.exec(text) ?? [];
  const [, command = '', rest = ''] = /^(npm run \S+ -- \S+) ?(.*)$/.exec(line) ?? [];
  const options = Array.from(
    text.matchAll(/^ +--([a-z-]+)(?: (\S+))? {2,}/gm),
    ([, name = '', value = '']) => {
      return [name, value] as const;
    },
  );
  return { text, command, options: new Map(options), arguments: rest.match(/\[[^\]]+\]|\S+/g) ?? [] };
}

/** Returns what is wrong with the arguments of a script, and what to write instead. */
export function findUsageError(usage: Usage, given: readonly string[]): string | undefined {
  const { command, options } = usage;
  const words: string[] = [];
  const rest = given.values();
  for (const word of rest) {
    const [, name, joined] = /^--([^=]+)(?:=(.*))?$/.exec(word) ?? [];
    if (name === undefined) {
      words.push(word);
      continue;
    }
    const pattern = options.get(name);
    if (pattern === undefined) return `There is no option --${name}. ${listOptions(usage)}`;
    if (pattern === '') continue;
    const value = joined ?? rest.next().value;
    if (!matches(pattern, value)) return `Give --${name} ${describe(pattern)}, not ${quote(value)}.`;
  }
  const last = usage.arguments.at(-1);
  for (const [index, word] of words.entries()) {
    const pattern = usage.arguments[index] ?? (last?.endsWith('…]') ? last : undefined);
    if (pattern === undefined) return `${quote(word)} is one argument too many. ${listOptions(usage)}`;
    if (!matches(toPattern(pattern), word))
      return `Give ${command} ${describe(toPattern(pattern))}, not ${quote(word)}.`;
  }
  const missing = usage.arguments[words.length];
  return missing === undefined || missing.startsWith('[')
    ? undefined
    : `Name ${missing}: ${command} ${missing}`;
}

function listOptions({ options }: Usage): string {
  const names = Array.from(options.keys(), (name) => `--${name}`);
  return names.length === 0
    ? 'There are no options.'
    : `Use ${names.join(', ')}, or --help for what they do.`;
}

function toPattern(argument: string): string {
  return argument.replaceAll(/[[\]…]/g, '').trim();
}

function matches(pattern: string, value: string | undefined): boolean {
  if (value === undefined || value.startsWith('--')) return false;
  return pattern.split('|').some((one) => {
    if (!/^\d/.test(one)) return !pattern.includes('|') || one === value;
    const number = String.raw`\d+(\.\d+)?`;
    if (one.includes('x')) return /^\d+x\d+$/.test(value);
    return new RegExp(one.includes(',') ? `^${number}(,${number})*$` : `^${number}$`).test(value);
  });
}

function describe(pattern: string): string {
  if (pattern.includes('|')) return pattern.replaceAll('|', ' or ');
  return /\d/.test(pattern) ? `a value such as ${pattern}` : 'a value';
}

function quote(value: string | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
