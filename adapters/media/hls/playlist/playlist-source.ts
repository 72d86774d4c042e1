import type { PreparePlaylist } from './fetch-playlist.ts';

/** Playlist URL. `freshUntil` is its expiry, or null if it is unknown and the URL is kept until it fails. */
export type LocatedPlaylist = { url: string; freshUntil: Date | null };

/**
 * Returns the playlist of a stream; called only if no playlist is cached. `again`: the previous result no longer
 * works. Throws `StreamError`.
 */
export type LocatePlaylist = (url: string, again: boolean, signal: AbortSignal) => Promise<LocatedPlaylist>;

/** Source of the playlist URL for platforms, whose playlists must be requested and expire. */
export type PlaylistSource = { locate: LocatePlaylist; prepare?: PreparePlaylist | undefined };
