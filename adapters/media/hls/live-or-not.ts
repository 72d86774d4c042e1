import type { MediaPlaylist } from './playlist.ts';

/** `ended`: nothing will be added (ENDLIST). `recorded`: never was to grow (PLAYLIST-TYPE:VOD). An EVENT without ENDLIST is live. */
export type Liveness = 'live' | 'ended' | 'recorded';

export function livenessOf(playlist: Pick<MediaPlaylist, 'endList' | 'playlistType'>): Liveness {
  if (playlist.playlistType === 'VOD') return 'recorded';
  return playlist.endList ? 'ended' : 'live';
}
