import { z } from 'zod';
import { WatchpostError } from '../errors.ts';

const ms = z.int().nonnegative();

/** Visit that may show what is searched: its best moment, its begin and end, and whether nobody looked before and after it. */
const candidateSchema = z.object({
  id: z.string().max(100),
  from: ms,
  to: ms,
  open: z.tuple([z.boolean(), z.boolean()]),
});
export type Candidate = z.infer<typeof candidateSchema>;

/** Maximum visits that a search by words checks. The body of a request has room for them. */
export const maxCandidates = 160;

/** State of a search between two calls. A caller that changes it can search only its own moments. */
export const searchStateSchema = z.object({
  /** Digest of the caller and of what is searched. */
  digest: z.string(),
  from: ms,
  to: ms,
  words: z.array(z.string().max(40)).max(24),
  counts: z.object({
    moments: ms,
    matched: ms,
    /** Pictures that were checked, those that the model did not judge, and moments without one. */
    looked: ms,
    unjudged: ms,
    gone: ms,
    calls: ms,
    /** Price in millionths of a dollar; `null` if unknown. */
    micro_usd: ms.nullable(),
  }),
  /** Visits of the span, and whether all of its moments were read for the number. */
  visits: z.object({ count: ms, exact: z.boolean() }),
  /** Time before which no moments were searched for words yet; `null` at the end. */
  unreadBefore: z.iso.datetime().nullable(),
  notJudged: z.string().max(1000).nullable(),
  /** Visits by words, best first, whose pictures are not checked yet. */
  candidates: z.array(candidateSchema).max(maxCandidates),
  /** Place of a thorough search: its watch (the first one if empty), the moment before which it continues, and whether the visit before it has matched up to there. */
  place: z.object({
    watch: z.string().max(40),
    after: z.object({ at: z.iso.datetime(), moment_id: z.string().max(100) }).nullable(),
    joined: z.boolean(),
  }),
  /** Pictures of the next call: fewer once a call took too long. */
  pictures: z.int().positive(),
});
export type SearchState = z.infer<typeof searchStateSchema>;

/** Writes the state of a search as the cursor of its next call. */
export function writeCursor(state: object): string {
  return Buffer.from(JSON.stringify(state)).toString('base64url');
}

/** Reads a cursor. Throws `WatchpostError` for one of another search or of another caller. */
export function readCursor<State extends { digest: string }>(
  cursor: string,
  digest: string,
  schema: z.ZodType<State>,
): State {
  const state = schema.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()));
  if (state.success && state.data.digest === digest) return state.data;
  throw new WatchpostError(
    'BAD_REQUEST',
    'The cursor is not of this request',
    'Send the next_cursor of the answer with an otherwise unchanged body, or leave it out. A changed watch needs a new backtest.',
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
