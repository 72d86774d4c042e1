import { z } from 'zod';

const watchPageSchema = z.object({
  contents: z.object({
    twoColumnWatchNextResults: z.object({
      results: z.object({ results: z.object({ contents: z.array(z.unknown()) }) }),
    }),
  }),
});

const primaryInfoSchema = z.object({
  videoPrimaryInfoRenderer: z.object({
    viewCount: z.object({
      videoViewCountRenderer: z.object({ isLive: z.literal(true), originalViewCount: z.coerce.number() }),
    }),
  }),
});

/** Reads the number of viewers of a broadcast from its page, or undefined. */
export function readViewerCount(watchPage: unknown): number | undefined {
  const page = watchPageSchema.safeParse(watchPage);
  if (!page.success) return undefined;
  for (const part of page.data.contents.twoColumnWatchNextResults.results.results.contents) {
    const info = primaryInfoSchema.safeParse(part);
    if (!info.success) continue;
    const { originalViewCount } = info.data.videoPrimaryInfoRenderer.viewCount.videoViewCountRenderer;
    return Number.isSafeInteger(originalViewCount) && originalViewCount >= 0 ? originalViewCount : undefined;
  }
  return undefined;
}
