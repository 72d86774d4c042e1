import { PlaylistLimitError } from './playlist-budget.ts';

/** Variable values by name (`EXT-X-DEFINE`). */
export type Variables = ReadonlyMap<string, string>;

/** Error for a variable without a value. */
export class VariableError extends Error {
  override readonly name = 'VariableError';
}

/** Maximum length of the text, in characters. Stops variables that expand exponentially. */
const maxCharacters = 16 * 1024 * 1024;

/** Maximum references. A day in segments of 2 s with a signed query has 43,200. */
const maxReferences = 100_000;

/**
 * Replaces `{$NAME}` with the value of the variable (RFC 8216bis, 4.3), in lines that are read in parts. A variable is
 * defined in the text, imported from the multivariant playlist, or taken from the query of the playlist URL, as signed
 * queries require. `fill` throws `VariableError` and `PlaylistLimitError`.
 */
export function createSubstitution(url: string, imported: Variables) {
  const variables = new Map<string, string>();
  const query = readQuery(url);
  const left = { references: maxReferences };
  let characters = 0;
  const fill = (lines: string[]): string[] =>
    lines.map((line) => {
      const full = variables.size === 0 ? line : fillIn(line, variables, left);
      characters += full.length;
      if (characters > maxCharacters) throw tooLong();
      if (full.startsWith('#EXT-X-DEFINE:')) define(full, query, imported, variables);
      return full;
    });
  return { fill, variables };
}

/** Counts during the replacement: one line may repeat a value of megabytes a hundred times. */
function fillIn(line: string, variables: Variables, left: { references: number }): string {
  let characters = 0;
  return line.replace(/\{\$([\w-]{1,255})\}/g, (reference: string, name: string) => {
    const value = variables.get(name) ?? reference;
    if ((left.references -= 1) < 0) throw tooLong();
    characters += value.length;
    if (characters > maxCharacters) throw tooLong();
    return value;
  });
}

function tooLong(): PlaylistLimitError {
  return new PlaylistLimitError('long lines');
}

function define(line: string, query: Variables, imported: Variables, variables: Map<string, string>): void {
  const name = quoted(line, attributes.name);
  const fromQuery = quoted(line, attributes.fromQuery);
  const fromAbove = quoted(line, attributes.fromAbove);
  if (name !== undefined) variables.set(name, quoted(line, attributes.value) ?? '');
  if (fromQuery !== undefined) variables.set(fromQuery, requireValue(query.get(fromQuery)));
  if (fromAbove !== undefined) variables.set(fromAbove, requireValue(imported.get(fromAbove)));
}

const attributes = {
  name: /[:,]\s*NAME="([^"]*)"/,
  value: /[:,]\s*VALUE="([^"]*)"/,
  fromQuery: /[:,]\s*QUERYPARAM="([^"]*)"/,
  fromAbove: /[:,]\s*IMPORT="([^"]*)"/,
};

function quoted(line: string, attribute: RegExp): string | undefined {
  return attribute.exec(line)?.[1];
}

/**
 * Returns the values still percent-encoded, because they become part of another URL. Of several with one name the first
 * one counts.
 */
function readQuery(url: string): Variables {
  const values = new Map<string, string>();
  for (const pair of new URL(url).search.slice(1).split('&')) {
    const index = pair.indexOf('=');
    const name = pair.slice(0, index);
    if (index !== -1 && !values.has(name)) values.set(name, pair.slice(index + 1));
  }
  return values;
}

function requireValue(value: string | undefined): string {
  if (value === undefined) throw new VariableError('A variable of the playlist has no value');
  return value;
}
