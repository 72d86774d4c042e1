import { setTimeout as sleep } from 'node:timers/promises';
import { EgressLimitError } from '../../../egress/errors.ts';

/** Bytes of playlists in memory, over all captures of a process. */
export type PlaylistBudget = {
  /** Accounts for one playlist from its first byte until it is parsed. */
  open(): PlaylistShare;
};

export type PlaylistShare = {
  /** Counts a chunk. Throws `PlaylistBudgetError` if all playlists together are too large. */
  count(bytes: number): void;
  /** Reads the playlist. Large ones take turns, between which the event loop is free for as long as the last one took. */
  read<Result>(work: () => Result): Promise<Result>;
  close(): void;
};

/** More large playlists are fetched concurrently than the service has memory for. */
export class PlaylistBudgetError extends EgressLimitError {}

/** Bytes of each playlist that are not counted: more than any usual playlist has, so that a few huge ones fail no job of others. */
const freeBytes = 256 * 1024;

/** Time that stands for a playlist which cannot be read. */
const failedMs = 100;

/** By default four playlists of the largest size, and any number of usual ones. */
export function createPlaylistBudget({
  maxBytes = 32 * 1024 * 1024,
  elapsedMs = () => performance.now(),
  pause = async (milliseconds: number): Promise<unknown> => sleep(milliseconds),
} = {}): PlaylistBudget {
  let counted = 0;
  let turn: Promise<unknown> = Promise.resolve();
  return {
    open: () => {
      let bytes = 0;
      let share = 0;
      return {
        count: (more) => {
          bytes += more;
          const added = Math.max(0, bytes - freeBytes) - share;
          if (counted + added > maxBytes) throw new PlaylistBudgetError('Too many large playlists');
          counted += added;
          share += added;
        },
        read: async (work) => {
          if (share === 0) return work();
          const mine = turn.then(() => {
            const beganMs = elapsedMs();
            return { result: work(), tookMs: elapsedMs() - beganMs };
          });
          turn = mine.then(
            ({ tookMs }) => pause(tookMs),
            () => pause(failedMs),
          );
          return (await mine).result;
        },
        close: () => {
          counted -= share;
          share = 0;
        },
      };
    },
  };
}
