import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, jsonSchema } from './json.ts';
import { readPath, type ReferencePath, referencePathSchema } from './reference-path.ts';

/** Payload template (`Parameters`), parsed once: an object key that ends in `.$` takes its value from a path. */
export type Template =
  | { kind: 'literal'; value: Json }
  | { kind: 'path'; path: ReferencePath }
  | { kind: 'array'; items: Template[] }
  | { kind: 'object'; fields: [key: string, value: Template][] };

export const templateSchema = jsonSchema.transform((source, context): Template => {
  const problems: string[] = [];
  const template = compile(source, '', problems);
  for (const message of problems) context.addIssue({ code: 'custom', message });
  return problems.length === 0 ? template : z.NEVER;
});

/** Returns the task's input. Throws if a path finds no value. */
export function render(template: Template, document: Json): Json {
  switch (template.kind) {
    case 'literal':
      return template.value;
    case 'path':
      return readPath(template.path, document);
    case 'array':
      return template.items.map((item) => render(item, document));
    case 'object':
      return Object.fromEntries(template.fields.map(([key, value]) => [key, render(value, document)]));
  }
}

function compile(source: Json, place: string, problems: string[]): Template {
  if (Array.isArray(source)) {
    return {
      kind: 'array',
      items: source.map((item, index) => compile(item, `${place}[${index}]`, problems)),
    };
  }
  if (isJsonObject(source)) return compileObject(source, place, problems);
  return { kind: 'literal', value: source };
}

function compileObject(source: JsonObject, place: string, problems: string[]): Template {
  const fields = new Map<string, Template>();
  for (const [key, value] of Object.entries(source)) {
    const target = key.endsWith('.$') ? key.slice(0, -2) : key;
    const inside = place === '' ? key : `${place}.${key}`;
    if (fields.has(target)) problems.push(`${inside}: "${target}" is set twice`);
    fields.set(
      target,
      target === key ? compile(value, inside, problems) : compilePath(value, inside, problems),
    );
  }
  return { kind: 'object', fields: [...fields] };
}

function compilePath(source: Json, place: string, problems: string[]): Template {
  const path = referencePathSchema.safeParse(source);
  if (path.success) return { kind: 'path', path: path.data };
  problems.push(...path.error.issues.map((issue) => `${place}: ${issue.message}`));
  return { kind: 'literal', value: null };
}
