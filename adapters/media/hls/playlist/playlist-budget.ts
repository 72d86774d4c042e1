import { setTimeout as sleep } from 'node:timers/promises';
import { EgressLimitError } from '../../../egress/errors.ts';
import { findLargest } from '../../../fair-cache.ts';
import { createFairQueue } from '../../../fair-queue.ts';
import { finishSteps, type Steps } from '../../../steps.ts';

/** Bytes of playlists in memory, over all captures of a process. */
export type PlaylistBudget = {
  /** Accounts for one playlist of a caller from its first byte until it is parsed. */
  open(caller: string): PlaylistShare;
};

export type PlaylistShare = {
  /**
   * Counts a chunk. Throws `PlaylistBudgetError` if all playlists together are too large, and no other caller has more.
   */
  count(bytes: number): void;
  /** Aborted with `PlaylistBudgetError` if the playlist has to make place for that of another caller. */
  signal: AbortSignal;
  /**
   * Reads the playlist. Large ones take turns, and the event loop is free after each of their steps for as long as that
   * took.
   */
  read<Result>(steps: Steps<Result>): Promise<Result>;
  close(): void;
};

/** More large playlists are fetched concurrently than the service has memory for. */
export class PlaylistBudgetError extends EgressLimitError {}

/**
 * Bytes of each playlist that are not counted: more than any usual playlist has, so that a few huge ones fail no job of
 * others.
 */
const freeBytes = 256 * 1024;

/** Counted playlists of a caller, oldest first. */
type Holder = { size: number; playlists: Set<{ giveUp(): void }> };

/**
 * By default four playlists of the largest size, and any number of usual ones. The caller with the most gives up its
 * newest.
 */
export function createPlaylistBudget({
  maxBytes = 32 * 1024 * 1024,
  elapsedMs = () => performance.now(),
  pause = async (milliseconds: number): Promise<unknown> => sleep(milliseconds),
} = {}): PlaylistBudget {
  const holders = new Map<string, Holder>();
  const readers = createFairQueue<() => void>({ elapsedMs });
  let isReading = false;
  return {
    open: (caller) => {
      const gaveUp = new AbortController();
      let bytes = 0;
      let counted = 0;
      const playlist = {
        giveUp: () => {
          close();
          gaveUp.abort(new PlaylistBudgetError('Too many large playlists'));
        },
      };
      return {
        signal: gaveUp.signal,
        count: (more) => {
          gaveUp.signal.throwIfAborted();
          bytes += more;
          const added = Math.max(0, bytes - freeBytes) - counted;
          if (added === 0) return;
          const holder = holders.get(caller) ?? { size: 0, playlists: new Set() };
          holders.set(caller, { size: holder.size + added, playlists: holder.playlists.add(playlist) });
          counted += added;
          removeBeyond();
          gaveUp.signal.throwIfAborted();
        },
        read: async (steps) =>
          counted === 0 ? finishSteps(steps) : readInTurn(caller, steps, gaveUp.signal),
        close,
      };

      function close(): void {
        const holder = holders.get(caller);
        if (!holder?.playlists.delete(playlist)) return;
        holder.size -= counted;
        if (holder.playlists.size === 0) holders.delete(caller);
      }
    },
  };

  function removeBeyond(): void {
    while ([...holders.values()].reduce((sum, { size }) => sum + size, 0) > maxBytes) {
      const largest = holders.get(findLargest(holders) ?? '');
      [...(largest?.playlists ?? [])].at(-1)?.giveUp();
    }
  }

  async function readInTurn<Result>(
    caller: string,
    steps: Steps<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    await new Promise<void>((resolve) => {
      readers.add(caller, resolve);
      beginNext();
    });
    const end = readers.begin(caller);
    let beganMs = elapsedMs();
    try {
      for (;;) {
        signal.throwIfAborted();
        beganMs = elapsedMs();
        const { done, value } = steps.next();
        if (done) return value;
        await pause(elapsedMs() - beganMs);
      }
    } finally {
      end();
      void goOnAfter(elapsedMs() - beganMs);
    }
  }

  async function goOnAfter(milliseconds: number): Promise<void> {
    await pause(milliseconds);
    isReading = false;
    beginNext();
  }

  function beginNext(): void {
    if (isReading) return;
    const next = readers.take();
    isReading = next !== undefined;
    next?.item();
  }
}

/** Remedies by what a playlist has too much of. */
const remedies = {
  'many lines': 'Use one with a shorter DVR window.',
  'long lines': 'Use one with shorter URLs: without tokens in each line, or variables that repeat them.',
};

/** Error for a playlist with more lines or tags, or longer ones, than are read. */
export class PlaylistLimitError extends Error {
  override readonly name = 'PlaylistLimitError';
  readonly remedy: string;

  constructor(excess: keyof typeof remedies) {
    super(`The playlist has too ${excess}`);
    this.remedy = remedies[excess];
  }
}
