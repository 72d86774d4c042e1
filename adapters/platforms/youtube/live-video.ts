import { z } from 'zod';
import { NotLiveError } from '../../../core/errors.ts';
import { unexpectedResponseError } from '../platform-request.ts';
import { parsePlatformUrl } from '../parse-platform-url.ts';
import { BroadcastEndedError } from '../resolution.ts';
import { InnertubeStatusError } from './guarded-fetch.ts';
import type { Innertube } from './innertube.ts';

/** Maximum redirects. A handle may first lead to an older URL of its channel. */
const maxSteps = 3;

/**
 * Returns the id of the live video of a channel. Throws `NotLiveError` if it has none, or the channel does not
 * exist.
 */
export async function findLiveVideo(channelPath: string, innertube: Innertube): Promise<string> {
  let path = channelPath;
  for (let step = 0; step < maxSteps; step += 1) {
    const { endpoint } = await resolve(`https://www.youtube.com${path}/live`, innertube);
    if (endpoint.watchEndpoint) return endpoint.watchEndpoint.videoId;
    if (!endpoint.urlEndpoint) throw nothingLive();
    const next = pageAt(endpoint.urlEndpoint.url);
    if (next.videoId !== null) return next.videoId;
    path = next.path;
  }
  throw nothingLive();
}

const resolvedSchema = z.object({
  endpoint: z.object({
    watchEndpoint: z.object({ videoId: z.string().regex(/^[\w-]{11}$/) }).optional(),
    urlEndpoint: z.object({ url: z.string() }).optional(),
  }),
});

async function resolve(url: string, innertube: Innertube): Promise<z.infer<typeof resolvedSchema>> {
  const answer = await innertube.resolveUrl(url).catch((error: unknown) => {
    if (error instanceof InnertubeStatusError && error.status === 404) {
      throw new NotLiveError('The channel does not exist. Check its name in the URL.', undefined, {
        cause: error,
      });
    }
    throw error;
  });
  const parsed = resolvedSchema.safeParse(answer);
  if (!parsed.success) throw unexpectedResponseError('YouTube', parsed.error);
  return parsed.data;
}

/** Parses the target of a redirect. Rejects targets outside YouTube. */
function pageAt(target: string): { videoId: string | null; path: string } {
  const url = URL.parse(target, 'https://www.youtube.com');
  const page = url && parsePlatformUrl(url);
  if (url === null || page?.platform !== 'youtube') throw unexpectedResponseError('YouTube');
  if (page.kind === 'video') return { videoId: page.videoId, path: '' };
  return {
    videoId: null,
    path: page.kind === 'channel' ? page.path : url.pathname.replace(/\/(live)?$/, ''),
  };
}

/** Ended rather than not live: a job of this channel ends with the broadcast. */
function nothingLive(): BroadcastEndedError {
  return new BroadcastEndedError('The channel is not live. Try again when it is.', 'Stream is offline');
}
