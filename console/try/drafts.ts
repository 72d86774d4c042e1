import type { Session } from '../session/session.ts';
import type { Draft } from './draft.ts';

/** Drafts by session: kept across pages, dropped at sign-out, because a stream URL may contain a password. */
export const drafts = new WeakMap<Session, Draft>();
