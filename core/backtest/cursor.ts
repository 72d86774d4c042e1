import { z } from 'zod';
import { watchProgressSchema } from '../records/run.ts';

const timestamp = z.iso.datetime();
const ms = z.int().nonnegative();
const id = z.string().max(100);

/** Alert of a play. `shown`: moment whose picture opened it. `closed_at` is `null` while it is open. */
const playedAlertSchema = z.object({
  opened_at: timestamp,
  closed_at: timestamp.nullable(),
  explanation: z.string(),
  shown: id,
  /** Moments that hold, oldest first; at most the first 12. */
  moments: z.array(id).max(12),
});
export type PlayedAlert = z.infer<typeof playedAlertSchema>;

/** State of the play of one condition between two captures. */
const conditionPlaySchema = z.object({
  at: timestamp,
  progress: watchProgressSchema,
  open: playedAlertSchema.nullable(),
  /** Moments that have held lately, of which the first ones are named. */
  held: z.array(id).max(12),
  /** Moment behind which a confirming picture was due; `null` if none is. */
  lacking: z.object({ at: timestamp, id, explanation: z.string() }).nullable(),
  /** True if these moments were told as a possible opening. */
  told: z.boolean(),
});
export type ConditionPlay = z.infer<typeof conditionPlaySchema>;

/** Verdict that a call of this backtest gave on a moment of the next capture. */
const verdictSchema = z.object({
  moment_id: id,
  condition_id: z.string(),
  triggered: z.boolean().nullable(),
  explanation: z.string(),
});

export const costSchema = z.object({ calls: ms, micro_usd: z.number().nonnegative().nullable() });

/** State of a backtest between two calls. */
export const backtestStateSchema = z.object({
  from: ms,
  to: ms,
  /** Newest capture that was played: its time and the id of its newest moment; `null` before the first. */
  after: z.object({ at: ms, id }).nullable(),
  counts: costSchema.extend({ captures: ms, moments: ms, gone: ms, unjudged: ms }),
  estimate: costSchema.extend({ moments: ms, exact: z.boolean() }),
  /** Times since which the own conditions have verdicts; `null` for one without any. */
  known: z.array(ms.nullable()).max(8),
  plays: z.array(conditionPlaySchema).max(8),
  verdicts: z.array(verdictSchema).max(64),
});
export type BacktestState = z.infer<typeof backtestStateSchema>;
