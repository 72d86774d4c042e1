import type { SetTimer } from '../../../../core/time-limit.ts';
import { RtspConnectionError } from '../protocol/errors.ts';
import type { KeptSession } from './kept-session.ts';
import type { NalRules } from '../rtp/nal-units.ts';

/** Session with the track that it plays. */
export type OpenedSession = { session: KeptSession; track: SessionTrack };
export type SessionTrack = { codec: NalRules['codec']; clockRate: number };
export type OpenSession = (url: string, signal: AbortSignal) => Promise<OpenedSession | null>;

/** Session of a URL, open or being opened, with the number of captures that use it. */
export type SessionEntry = {
  url: string;
  opening: Promise<OpenedSession | null>;
  session: KeptSession | undefined;
  controller: AbortController;
  users: number;
  cancelTimer: () => void;
};

/** Sessions of all URLs, at most one each. */
export type OpenSessions = {
  find(url: string): SessionEntry | undefined;
  /** Opens a session after `before`. */
  begin(url: string, before: Promise<unknown>): SessionEntry;
  /** Keeps the session open for a capture. */
  enter(entry: SessionEntry): void;
  /** Ends the use of a capture. Without one, the session stays for `keepMs` if there are not too many. */
  leave(entry: SessionEntry, keepMs: number): void;
  /** Closes the session of an entry, once. Later captures wait for it. */
  end(entry: SessionEntry | undefined): Promise<void>;
  endAll(): Promise<void>;
  /** Resolves when the session of a URL that is being closed is closed: a camera with one session has none for the next one until then. */
  closed(url: string): Promise<void> | undefined;
};

export function createOpenSessions(open: OpenSession, maxKept: number, setTimer: SetTimer): OpenSessions {
  const entries = new Map<string, SessionEntry>();
  const closing = new Map<string, Promise<void>>();
  return {
    find: (url) => entries.get(url),
    begin(url, before) {
      const controller = new AbortController();
      const entry: SessionEntry = {
        url,
        opening: before.then(() => open(url, controller.signal)),
        session: undefined,
        controller,
        users: 0,
        cancelTimer: () => undefined,
      };
      entry.opening.then(
        (opened) => (entry.session = opened?.session),
        () => forget(entry),
      );
      entries.set(url, entry);
      return entry;
    },
    enter(entry) {
      entry.users += 1;
      entry.cancelTimer();
    },
    leave(entry, keepMs) {
      entry.users -= 1;
      if (entry.users > 0 || entries.get(entry.url) !== entry) return;
      if (keepMs <= 0 || entries.size > maxKept) return void end(entry);
      entry.cancelTimer = setTimer(() => void end(entry), keepMs);
    },
    end,
    async endAll() {
      for (const entry of entries.values()) void end(entry);
      await Promise.all(closing.values());
    },
    closed: (url) => closing.get(url),
  };

  async function end(entry: SessionEntry | undefined): Promise<void> {
    if (entry === undefined) return;
    if (forget(entry)) {
      const closed = closeSession(entry).finally(() => {
        if (closing.get(entry.url) === closed) closing.delete(entry.url);
      });
      closing.set(entry.url, closed);
    }
    await closing.get(entry.url);
  }

  function forget(entry: SessionEntry): boolean {
    entry.cancelTimer();
    return entries.get(entry.url) === entry && entries.delete(entry.url);
  }
}

async function closeSession({ session, controller, opening }: SessionEntry): Promise<void> {
  if (session) return session.close();
  controller.abort(new RtspConnectionError('The session was closed'));
  const opened = await opening.catch(() => null);
  await opened?.session.close();
}
