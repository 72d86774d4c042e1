import { z } from 'zod';
import { parseAllDocuments } from 'yaml';
import { findNearestName } from '../../core/nearest-name.ts';
import { watchRequestSchema, type WatchRequest } from '../../core/requests/watches.ts';
import { CommandError } from '../command-error.ts';

/**
 * Reads the watches of a YAML or JSON file: one watch, a list, or `{watches: […]}`; several YAML documents too.
 * Replaces `${NAME}` in texts by the environment. Throws `CommandError` that lists every problem with its field, never
 * with a value: values may be secret.
 */
export function readWatchFile(text: string, file: string, env: NodeJS.ProcessEnv): WatchRequest[] {
  const problems: string[] = [];
  const entries = parseEntries(text, file);
  const watches = entries.flatMap((entry, index) => {
    const where = entryName(entry, index);
    const filled = fillIn(entry, env, where, problems);
    problems.push(...findUnknownFields(filled, fields, where));
    const parsed = watchRequestSchema.safeParse(filled);
    if (parsed.success) return [parsed.data];
    problems.push(...parsed.error.issues.map(({ path, message }) => `${joinPath(where, path)}: ${message}`));
    return [];
  });
  problems.push(...findRepeated(watches.map(({ name }) => name)));
  if (problems.length === 0) return watches;
  throw new CommandError(
    `${file} is not valid; nothing was changed:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    'Mend the file: docs/use/evaluate.md#watches-in-git has its rules.',
  );
}

function parseEntries(text: string, file: string): unknown[] {
  const documents = parseAllDocuments(text);
  const list = 'empty' in documents ? [] : documents;
  const broken = list.flatMap(({ errors }) => errors).map(({ message }) => message.split('\n', 1)[0] ?? '');
  if (broken.length > 0)
    throw new CommandError(`${file} is not YAML or JSON: ${broken.join('; ')}`, 'Mend the named line.');
  const contents = list.map((document): unknown => document.toJS()).filter((content) => content !== null);
  if (contents.length === 0)
    throw new CommandError(`${file} is empty`, 'Write at least one watch, or "watches: []" for none.');
  return contents.flatMap((content) => {
    if (Array.isArray(content)) return content.map((entry: unknown) => entry);
    const wrapped = z.strictObject({ watches: z.array(z.unknown()) }).safeParse(content);
    return wrapped.success ? wrapped.data.watches : [content];
  });
}

function entryName(entry: unknown, index: number): string {
  const named = z.object({ name: z.string() }).safeParse(entry);
  return named.success ? `watch "${named.data.name}"` : `watch ${index + 1}`;
}

function joinPath(where: string, path: readonly PropertyKey[]): string {
  return path.length === 0 ? where : `${where}, ${path.map(String).join('.')}`;
}

/**
 * Replaces `${NAME}` in all texts; `$${` is a literal `${`. Adds a problem for each variable that is unset or empty.
 */
function fillIn(value: unknown, env: NodeJS.ProcessEnv, where: string, problems: string[]): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/(\$?)\$\{([^{}]*)\}/g, (whole, escape: string, name: string) => {
      if (escape !== '') return whole.slice(1);
      const content = env[name];
      if (/^[A-Za-z_]\w*$/.test(name) && content !== undefined && content !== '') return content;
      problems.push(
        /^[A-Za-z_]\w*$/.test(name)
          ? `${where}: the environment variable ${name} is not set`
          : `${where}: \${${name}} is no environment variable; write $\${ for a literal \${`,
      );
      return whole;
    });
  if (Array.isArray(value)) return value.map((entry) => fillIn(entry, env, where, problems));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, fillIn(entry, env, where, problems)]),
  );
}

type Fields = {
  properties?: Record<string, Fields> | undefined;
  items?: Fields | undefined;
  anyOf?: Fields[] | undefined;
};
const fieldsSchema: z.ZodType<Fields> = z.lazy(() =>
  z.object({
    properties: z.record(z.string(), fieldsSchema).optional(),
    items: fieldsSchema.optional(),
    anyOf: z.array(fieldsSchema).optional(),
  }),
);
const fields = fieldsSchema.parse(
  z.toJSONSchema(watchRequestSchema, { io: 'input', unrepresentable: 'any' }),
);

/** Returns the fields that no watch has: the service ignores them, a file in git is expected to mean what it says. */
function findUnknownFields(value: unknown, allowed: Fields, where: string): string[] {
  const options = [allowed, ...(allowed.anyOf ?? [])];
  if (Array.isArray(value)) {
    const items = options.find((option) => option.items)?.items;
    return items === undefined
      ? []
      : value.flatMap((entry, index) => findUnknownFields(entry, items, `${where}.${index}`));
  }
  const properties = options.find((option) => option.properties)?.properties;
  if (typeof value !== 'object' || value === null || properties === undefined) return [];
  return Object.entries(value).flatMap(([name, entry]) => {
    const field = properties[name];
    if (field !== undefined) return findUnknownFields(entry, field, `${where}, ${name}`);
    const nearest = findNearestName(name, Object.keys(properties));
    return [`${where}: unknown field ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`];
  });
}

function findRepeated(names: readonly string[]): string[] {
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  return [...new Set(repeated)].map((name) => `the name "${name}" occurs twice; a name identifies a watch`);
}
