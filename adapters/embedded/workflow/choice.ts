import { z } from 'zod';
import type { Json } from './json.ts';
import { readPath, referencePathSchema } from './reference-path.ts';

/** One test of a Choice state: the value at `variable` is this boolean, number or string, or the rule does not apply. */
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
 * The name of the next state: that of the first rule that applies, else `defaultNext`. A value of another type is no
 * error, its rule does not apply. Throws where a variable is absent, as Step Functions does.
 */
export function choose(
  rules: readonly ChoiceRule[],
  defaultNext: string | undefined,
  document: Json,
): string | undefined {
  const rule = rules.find(({ variable, equals }) => readPath(variable, document) === equals);
  return rule?.Next ?? defaultNext;
}
