import { parseIsoTime } from '../../../core/outside-time.ts';
import type { PreparePlaylist } from '../../media/hls/playlist/fetch-playlist.ts';

/**
 * Marks the advertisements that Twitch inserts into a stream as gaps, so that none is captured. Detects them by
 * segment titles that begin with "Amazon", and by the class or id of date ranges. `paused`: the newest segment is
 * an advertisement.
 */
export const markAdvertisements: PreparePlaylist = (playlist) => {
  const lines = Buffer.from(playlist).toString().split(/\r?\n/);
  const breaks = lines.flatMap((line) => readBreak(line) ?? []).slice(-maxBreaks);
  const marked: string[] = [];
  let paused = false;
  let atMs = NaN;
  for (const line of lines) {
    if (line.startsWith(dateTime)) atMs = parseIsoTime(line.slice(dateTime.length)) ?? NaN;
    if (line.startsWith(information)) {
      paused = isAdvertisement(line, atMs, breaks);
      if (paused) marked.push('#EXT-X-GAP');
      atMs += Number.parseFloat(line.slice(information.length)) * 1000;
    }
    marked.push(line);
  }
  return { playlist: Buffer.from(marked.join('\n')), paused };
};

const dateTime = '#EXT-X-PROGRAM-DATE-TIME:';
const information = '#EXTINF:';

/** Maximum advertisement breaks. A playlist of half a minute has two or three. */
const maxBreaks = 20;

type Break = { fromMs: number; toMs: number };

/** Returns true for an advertisement. `atMs` is NaN if the playlist has no program date-time. */
function isAdvertisement(extinf: string, atMs: number, breaks: Break[]): boolean {
  const title = extinf.slice(extinf.indexOf(',') + 1).trim();
  return title.startsWith('Amazon') || breaks.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
}

function readBreak(line: string): Break | null {
  if (!line.startsWith('#EXT-X-DATERANGE:')) return null;
  const stitched =
    attribute(line, 'CLASS') === 'twitch-stitched-ad' || attribute(line, 'ID')?.startsWith('stitched-ad-');
  const fromMs = parseIsoTime(attribute(line, 'START-DATE') ?? '');
  if (!stitched || fromMs === undefined) return null;
  const seconds = Number(attribute(line, 'DURATION') ?? attribute(line, 'PLANNED-DURATION') ?? 0);
  return { fromMs, toMs: fromMs + (Number.isFinite(seconds) ? seconds : 0) * 1000 };
}

function attribute(line: string, name: string): string | undefined {
  return new RegExp(`[:,]${name}=(?:"([^"]*)"|([^",]*))`)
    .exec(line)
    ?.slice(1)
    .find((value) => value !== undefined);
}
