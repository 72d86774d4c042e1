import { z } from 'zod';
import type { Json } from './json.ts';
import { readPath, referencePathSchema } from './reference-path.ts';

/** Rule of a Choice state: it matches if `variable` has this boolean, number or string value. */
export const choiceRuleSchema = z
  .strictObject({
    Comment: z.string().optional(),
    Variable: referencePathSchema,
    BooleanEquals: z.boolean().optional(),
    NumericEquals: z.number().optional(),
    StringEquals: z.string().optional(),
    Next: z.string(),
  })
  .transform(({ Variable, BooleanEquals, NumericEquals, StringEquals, Next }, context) => {
    const [equals, ...others] = [BooleanEquals, NumericEquals, StringEquals].filter((x) => x !== undefined);
    if (equals === undefined || others.length > 0) {
      context.addIssue({
        code: 'custom',
        message: 'a choice rule has exactly one of BooleanEquals, NumericEquals, StringEquals',
      });
      return z.NEVER;
    }
    return { variable: Variable, equals, Next };
  });
export type ChoiceRule = z.infer<typeof choiceRuleSchema>;

/**
 * Returns the next state of the first matching rule, else `defaultNext`. A value of another type does not match and is not an
 * error. Throws if a variable is absent, like Step Functions.
 */
export function choose(
  rules: readonly ChoiceRule[],
  defaultNext: string | undefined,
  document: Json,
): string | undefined {
  const rule = rules.find(({ variable, equals }) => readPath(variable, document) === equals);
  return rule?.Next ?? defaultNext;
}
