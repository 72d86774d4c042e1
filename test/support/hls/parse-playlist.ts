import { parseInSteps, type Playlist } from '../../../adapters/media/hls/playlist/playlist.ts';
import { finishSteps } from '../../../adapters/steps.ts';

/** Parses a playlist without a pause. */
export function parsePlaylist(...source: Parameters<typeof parseInSteps>): Playlist {
  return finishSteps(parseInSteps(...source));
}
