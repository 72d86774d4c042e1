/** Values by name, as `EXT-X-DEFINE` gives them. */
export type Variables = ReadonlyMap<string, string>;

/** A variable that is asked for and not there, or so many that the text would not end. */
export class VariableError extends Error {
  override readonly name = 'VariableError';
}

/** Above every playlist; what stops values that unfold like a bomb. */
const mostCharacters = 16 * 1024 * 1024;

/**
 * Puts values in place of `{$NAME}` (RFC 8216bis, 4.3): defined in the text, imported from the multivariant playlist, or taken from the
 * query of the playlist's own URL, which is the one way in which a signed query is handed on. Throws `VariableError`.
 */
export function withVariables(
  lines: string[],
  url: string,
  imported: Variables,
): { lines: string[]; variables: Variables } {
  const variables = new Map<string, string>();
  let characters = 0;
  const substituted = lines.map((line) => {
    const full = variables.size === 0 ? line : fillIn(line, variables);
    characters += full.length;
    if (characters > mostCharacters) throw tooLong();
    if (full.startsWith('#EXT-X-DEFINE:')) define(full, url, imported, variables);
    return full;
  });
  return { lines: substituted, variables };
}

/** Counts while it fills in: a value of megabytes that one line asks for a hundred times would unfold before it could be measured. */
function fillIn(line: string, variables: Variables): string {
  let characters = 0;
  return line.replace(/\{\$([\w-]{1,255})\}/g, (reference: string, name: string) => {
    const value = variables.get(name) ?? reference;
    characters += value.length;
    if (characters > mostCharacters) throw tooLong();
    return value;
  });
}

function tooLong(): VariableError {
  return new VariableError('Variables make the playlist too long');
}

function define(line: string, url: string, imported: Variables, variables: Map<string, string>): void {
  const name = quoted(line, 'NAME');
  const fromQuery = quoted(line, 'QUERYPARAM');
  const fromAbove = quoted(line, 'IMPORT');
  if (name !== undefined) variables.set(name, quoted(line, 'VALUE') ?? '');
  if (fromQuery !== undefined) variables.set(fromQuery, known(queryValue(url, fromQuery)));
  if (fromAbove !== undefined) variables.set(fromAbove, known(imported.get(fromAbove)));
}

function quoted(line: string, attribute: string): string | undefined {
  return new RegExp(`[:,]\\s*${attribute}="([^"]*)"`).exec(line)?.[1];
}

/** As it stands in the URL, percent signs and all: decoded it would be another text in the URL that it is put into. */
function queryValue(url: string, name: string): string | undefined {
  const pairs = new URL(url).search.slice(1).split('&');
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

function known(value: string | undefined): string {
  if (value === undefined) throw new VariableError('A variable of the playlist has no value');
  return value;
}
