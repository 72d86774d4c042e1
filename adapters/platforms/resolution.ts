import { NotLiveError } from '../../core/errors.ts';
import type { StreamDetails } from '../../core/capture.ts';

/** A platform's stream that is live, and where its HLS playlist is. */
export type Resolution = {
  /** Signed by the platform: whoever has it can watch as we do. It stays in the memory of this process. */
  playlistUrl: string;
  /** When `playlistUrl` ceases to work; null where it does not say. */
  expiresAt: Date | null;
  /** The same of the media playlists that it leads to. */
  mediaExpiresAt: Date | null;
  /** The public page that plays it. */
  pageUrl: string;
  details: StreamDetails;
};

/** The platform says that the broadcast is over, not merely away: who watches it ends, where others are only told that it is not live. */
export class BroadcastOverError extends NotLiveError {}
