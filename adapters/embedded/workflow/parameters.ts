import { z } from 'zod';
import type { Json } from './json.ts';
import { readPath, type ReferencePath, referencePathSchema } from './reference-path.ts';

/** Payload template (`Parameters`), parsed once. A key that ends in `.$` takes its value from a path. */
export type Template = [key: string, value: { literal: Scalar } | { path: ReferencePath }][];

const scalarSchema = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'must be text, a number, a boolean or null; nested objects and lists are not supported',
});
type Scalar = z.infer<typeof scalarSchema>;

export const templateSchema = z.record(z.string(), z.unknown()).transform((source, context): Template => {
  const fields: Template = [];
  for (const [key, value] of Object.entries(source)) {
    const target = key.endsWith('.$') ? key.slice(0, -2) : key;
    const parsed =
      target === key
        ? scalarSchema.transform((literal) => ({ literal })).safeParse(value)
        : referencePathSchema.transform((path) => ({ path })).safeParse(value);
    const problems = parsed.success ? [] : parsed.error.issues.map(({ message }) => message);
    if (fields.some(([other]) => other === target)) problems.push(`"${target}" is set twice`);
    for (const message of problems) context.addIssue({ code: 'custom', message, path: [key] });
    if (parsed.success) fields.push([target, parsed.data]);
  }
  return fields;
});

/** Returns the task's input. Throws if a path finds no value. */
export function render(template: Template, document: Json): Json {
  return Object.fromEntries(
    template.map(([key, value]) => [key, 'path' in value ? readPath(value.path, document) : value.literal]),
  );
}
