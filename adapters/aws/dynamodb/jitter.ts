import { setTimeout as wait } from 'node:timers/promises';
import { TransientError } from '../../../core/errors.ts';

/** What repetitions need of the world outside. */
export type Patience = { sleep: (milliseconds: number) => Promise<void>; random: () => number };

export const systemPatience: Patience = {
  sleep: async (milliseconds) => wait(milliseconds),
  random: Math.random,
};

/** Four seconds in all on average: a function answers within 30. */
const tries = 12;
const firstWaitMs = 20;
const longestWaitMs = 1_000;

/**
 * Asks until there is an answer; undefined means that others were in the way. Waits are drawn from nothing to an ever longer time, so
 * that those who collided come back at different moments. Throws `TransientError` when that never ends.
 */
export async function untilAnswered<Answer>(
  ask: () => Promise<Answer | undefined>,
  { sleep, random }: Patience,
): Promise<Answer> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(random() * Math.min(longestWaitMs, firstWaitMs * 2 ** attempt));
  }
  throw new TransientError('Too many changes of the same items at once');
}
