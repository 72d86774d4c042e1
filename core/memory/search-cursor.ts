import { z } from 'zod';
import { WatchpostError } from '../errors.ts';
import type { LinkSigner } from '../ports/delivery.ts';

const ms = z.int().nonnegative();

/**
 * Visit that may show what is searched: its best moment, its begin and end, and whether nobody looked before and after
 * it.
 */
const candidateSchema = z.object({
  id: z.string().max(100),
  from: ms,
  to: ms,
  open: z.tuple([z.boolean(), z.boolean()]),
});
export type Candidate = z.infer<typeof candidateSchema>;

/** Maximum visits that a search by words checks. The body of a request has room for them. */
export const maxCandidates = 160;

/** State of a search between two calls. */
export const searchStateSchema = z.object({
  from: ms,
  to: ms,
  words: z.array(z.string().max(40)).max(24),
  counts: z.object({
    moments: ms,
    matched: ms,
    /** Visits of all responses so far. */
    found: ms,
    /** Pictures that were checked, those that the model did not judge, and moments without one. */
    looked: ms,
    unjudged: ms,
    gone: ms,
    calls: ms,
    /** Price in millionths of a dollar; `null` if unknown. */
    micro_usd: ms.nullable(),
  }),
  /**
   * Visits of the span, whether all of its moments were read for the number, and the calls for a picture of each: those
   * of a call are of one watch.
   */
  visits: z.object({ count: ms, exact: z.boolean(), calls: ms }),
  /** Time before which no moments were searched for words yet; `null` at the end. */
  unreadBefore: z.iso.datetime().nullable(),
  notJudged: z.string().max(1000).nullable(),
  /** Visits by words, best first, whose pictures are not checked yet. */
  candidates: z.array(candidateSchema).max(maxCandidates),
  /**
   * Place of a thorough search: its watch (the first one if empty), the moment before which it continues, and whether
   * the visit before it has matched up to there.
   */
  place: z.object({
    watch: z.string().max(40),
    after: z.object({ at: z.iso.datetime(), moment_id: z.string().max(100) }).nullable(),
    joined: z.boolean(),
  }),
  /** Pictures of the next call: fewer once a call took too long. */
  pictures: z.int().positive(),
});
export type SearchState = z.infer<typeof searchStateSchema>;

/** Caller of a cursor, and the parts of its request that must not change. */
type Request = readonly [caller: string, ...parts: unknown[]];

/** Writes a state as the cursor of the next call: signed, since a forged one could let the service read without end. */
export async function writeCursor(state: object, request: Request, signer: LinkSigner): Promise<string> {
  const text = Buffer.from(JSON.stringify(state)).toString('base64url');
  return `${text}.${await signer.sign(signedText(text, request))}`;
}

/**
 * Reads a cursor; undefined without one. Throws `WatchpostError` for one that is forged, or of another request or
 * caller.
 */
export async function readCursor<State>(
  cursor: string | undefined,
  request: Request,
  schema: z.ZodType<State>,
  signer: LinkSigner,
): Promise<State | undefined> {
  if (cursor === undefined) return undefined;
  const [text = '', signature = ''] = cursor.split('.');
  const isValid = await signer.verify(signedText(text, request), signature);
  // Another version of the software may have signed another state.
  const state = isValid ? schema.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString())) : undefined;
  if (state?.success) return state.data;
  throw new WatchpostError(
    'BAD_REQUEST',
    'The cursor is not of this request',
    'Send the next_cursor of the answer with an otherwise unchanged body, or leave it out. A changed watch needs a new backtest.',
  );
}

function signedText(text: string, request: Request): string {
  return `cursor\n${JSON.stringify(request)}\n${text}`;
}
