import type { ClipRequest, ClipResult } from '../../../core/records/clip.ts';
import type { FilmInput } from './join-clip.ts';
import type { ClipDeps } from './read-clip.ts';

/** Film of a live connection, with its length and the age of its end. */
export type RecordedFilm = FilmInput & { seconds: number; ageMs?: number };

/**
 * Makes a clip of a live connection, of which nothing is kept: it begins with the opening, and is as long as what
 * follows it.
 */
export async function recordOn(
  { join, now }: Pick<ClipDeps, 'join' | 'now'>,
  request: ClipRequest,
  record: (seconds: number) => Promise<RecordedFilm | null>,
  signal: AbortSignal,
): Promise<ClipResult> {
  const wantedSeconds = (request.to.getTime() - request.openedAt.getTime()) / 1000;
  if (wantedSeconds === 0)
    return { kind: 'none', reason: 'Clips of this stream begin with the opening: set after_seconds' };
  const recorded = await record(wantedSeconds);
  if (!recorded) return { kind: 'none', reason: 'Streams of this codec have no clips' };
  const { seconds, ageMs = 0, ...film } = recorded;
  const endMs = now().getTime() - ageMs;
  const clip = await join(film, request, signal);
  const startMs = endMs - seconds * 1000;
  return { kind: 'clip', ...clip, from: new Date(startMs), to: new Date(endMs) };
}
