import type { StreamProbe } from '../../../core/records/capture.ts';
import { NotLiveError } from '../../../core/errors.ts';
import { fetchMediaPlaylist, PlaylistGoneError, type PlaylistFetcher } from './playlist/fetch-playlist.ts';
import { drmError } from './segments/fetch-segments.ts';
import { classifyLiveness } from './playlist/playlist.ts';
import type { CallerStream } from '../../caller-stream.ts';
import type { LocatePlaylist } from './playlist/find-playlist.ts';

export type ProbeHlsDeps = { fetcher: PlaylistFetcher; locate: LocatePlaylist };

/** Checks that the stream of a URL is live and can be decrypted. Throws `StreamError`. */
export async function probeHls(
  deps: ProbeHlsDeps,
  stream: CallerStream,
  signal: AbortSignal,
): Promise<StreamProbe> {
  const { url: entryUrl } = await deps.locate(stream, false, signal);
  const playlist = await fetchMediaPlaylist(deps.fetcher, entryUrl, 'frames', signal).catch(
    (error: unknown) => {
      throw error instanceof PlaylistGoneError
        ? new NotLiveError(error.remediation, 'Stream is offline', { cause: error })
        : error;
    },
  );
  if (classifyLiveness(playlist) !== 'live') {
    throw new NotLiveError(
      'The playlist belongs to a recording or to a broadcast that has ended. Use the URL of a live stream.',
    );
  }
  if (playlist.segments.at(-1)?.key?.method === 'unsupported') throw drmError();
  return { platform: 'hls', playbackUrl: withoutCredentials(stream.url) };
}

function withoutCredentials(url: string): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}
