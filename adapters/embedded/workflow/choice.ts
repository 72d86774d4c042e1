import { z } from 'zod';
import type { Json } from './json.ts';
import { readPath, referencePathSchema } from './reference-path.ts';

/** Rule of a Choice state: it matches if `Variable` is this boolean. */
export const choiceRuleSchema = z.strictObject({
  Comment: z.string().optional(),
  Variable: referencePathSchema,
  BooleanEquals: z.boolean(),
  Next: z.string(),
});
export type ChoiceRule = z.infer<typeof choiceRuleSchema>;

/**
 * Returns the next state of the first matching rule, else `defaultNext`. A value of another type does not match and is not an
 * error. Throws if a variable is absent, like Step Functions.
 */
export function choose(rules: readonly ChoiceRule[], defaultNext: string, document: Json): string {
  const rule = rules.find(({ Variable, BooleanEquals }) => readPath(Variable, document) === BooleanEquals);
  return rule?.Next ?? defaultNext;
}
