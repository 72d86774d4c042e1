import type { z } from 'zod';
import type { Erasure } from '../../core/access/erase-caller.ts';
import type { usageResponseSchema } from '../../core/responses/observability.ts';

export type CallerUsage = z.infer<typeof usageResponseSchema>;

/** Days and callers of `watchpost usage`. Without `caller`, those of all callers that the target shows. */
export type UsageRange = { from?: string | undefined; to?: string | undefined; caller?: string | undefined };

/** Operations on callers, with the shapes of `GET /usage` and `DELETE /callers/{caller}`. */
export type CallerBackend = {
  /** Lists the names of all callers. */
  names(): Promise<string[]>;
  usage(range: UsageRange): Promise<CallerUsage>;
  /** Erases a caller as far as one call does; repeat it until it is complete. */
  erase(caller: string): Promise<Erasure>;
  close(): Promise<void>;
};

/** Returns the usage of all pages. */
export async function readAllUsage(
  readPage: (after: string | undefined) => Promise<CallerUsage>,
): Promise<CallerUsage> {
  let page = await readPage(undefined);
  const callers = [...page.callers];
  while (page.next_after !== null) {
    page = await readPage(page.next_after);
    callers.push(...page.callers);
  }
  return { ...page, callers, next_after: null };
}
