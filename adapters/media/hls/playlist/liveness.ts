import type { MediaPlaylist } from './playlist.ts';

/**
 * Liveness of a playlist. `ended`: ENDLIST. `recorded`: PLAYLIST-TYPE:VOD. An EVENT playlist without ENDLIST is
 * live.
 */
export type Liveness = 'live' | 'ended' | 'recorded';

/** Returns the liveness of a playlist. */
export function classifyLiveness(playlist: Pick<MediaPlaylist, 'endList' | 'playlistType'>): Liveness {
  if (playlist.playlistType === 'VOD') return 'recorded';
  return playlist.endList ? 'ended' : 'live';
}
