import { toStreamKey, type CallerStream } from '../../../caller-stream.ts';
import { findLargest } from '../../../fair-cache.ts';
import type { SetTimer } from '../../../../core/time-limit.ts';
import { RtspConnectionError } from '../protocol/errors.ts';
import type { KeptSession } from './kept-session.ts';
import type { NalRules } from '../rtp/nal-units.ts';

export type OpenedSession = { session: KeptSession; track: SessionTrack };
export type SessionTrack = { codec: NalRules['codec']; clockRate: number };
export type OpenSession = (stream: CallerStream, signal: AbortSignal) => Promise<OpenedSession | null>;

/** Session of a stream, open or being opened, with the number of captures that use it. */
export type SessionEntry = {
  stream: CallerStream;
  opening: Promise<OpenedSession | null>;
  session: KeptSession | undefined;
  controller: AbortController;
  users: number;
  cancelTimer: () => void;
};

/** Sessions of all streams, at most one each. */
export function createOpenSessions(open: OpenSession, maxKept: number, setTimer: SetTimer) {
  const entries = new Map<string, SessionEntry>();
  const closing = new Map<string, Promise<void>>();
  return {
    find: (stream: CallerStream) => entries.get(toStreamKey(stream)),
    /** Opens a session after `before`. */
    begin(stream: CallerStream, before: Promise<unknown>): SessionEntry {
      const controller = new AbortController();
      const entry: SessionEntry = {
        stream,
        opening: before.then(() => open(stream, controller.signal)),
        session: undefined,
        controller,
        users: 0,
        cancelTimer: () => undefined,
      };
      entry.opening.then(
        (opened) => (entry.session = opened?.session),
        () => forget(entry),
      );
      entries.set(toStreamKey(stream), entry);
      return entry;
    },
    /** Keeps the session open for a capture. */
    enter(entry: SessionEntry): void {
      entry.users += 1;
      entry.cancelTimer();
    },
    /**
     * Ends the use of a capture. Without one, the session stays for `keepMs`. If there are too many, one of the
     * caller with the most ends that no capture uses.
     */
    leave(entry: SessionEntry, keepMs: number): void {
      entry.users -= 1;
      if (entry.users > 0 || entries.get(toStreamKey(entry.stream)) !== entry) return;
      if (keepMs <= 0) return void end(entry);
      entry.cancelTimer = setTimer(() => void end(entry), keepMs);
      if (entries.size > maxKept) void end(findUnusedOfLargest() ?? entry);
    },
    end,
    async endAll(): Promise<void> {
      for (const entry of entries.values()) void end(entry);
      await Promise.all(closing.values());
    },
    /**
     * Resolves when the session of a stream that is being closed is closed: a camera with one session has none for
     * the next one until then.
     */
    closed: (stream: CallerStream) => closing.get(toStreamKey(stream)),
  };

  function findUnusedOfLargest(): SessionEntry | undefined {
    const unused = Map.groupBy(entries.values(), ({ stream }) => stream.caller);
    const sizes = new Map([...unused].map(([caller, { length: size }]) => [caller, { size }]));
    return unused.get(findLargest(sizes) ?? '')?.find(({ users }) => users === 0);
  }

  /** Closes the session of an entry, once. Later captures wait for it. */
  async function end(entry: SessionEntry | undefined): Promise<void> {
    if (entry === undefined) return;
    const key = toStreamKey(entry.stream);
    if (forget(entry)) {
      const closed = closeSession(entry).finally(() => {
        if (closing.get(key) === closed) closing.delete(key);
      });
      closing.set(key, closed);
    }
    await closing.get(key);
  }

  function forget(entry: SessionEntry): boolean {
    entry.cancelTimer();
    const key = toStreamKey(entry.stream);
    return entries.get(key) === entry && entries.delete(key);
  }
}

async function closeSession({ session, controller, opening }: SessionEntry): Promise<void> {
  if (session) return session.close();
  controller.abort(new RtspConnectionError('The session was closed'));
  const opened = await opening.catch(() => null);
  await opened?.session.close();
}
