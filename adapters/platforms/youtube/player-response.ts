import { z } from 'zod';

/** Used part of InnerTube's `/player` response. Everything except the status may be absent or of another type. */
const text = z.union([
  z.object({ simpleText: z.string() }).transform(({ simpleText }) => simpleText),
  z
    .object({ runs: z.array(z.object({ text: z.string() })) })
    .transform(({ runs }) => runs.map((run) => run.text).join('')),
]);

const flag = z.boolean().default(false).catch(false);

const thumbnails = z.array(z.object({ url: z.url(), width: z.number().default(0).catch(0) })).catch([]);

/** Schema of the used part of InnerTube's `/player` response. */
export const playerResponseSchema = z.object({
  playabilityStatus: z.object({
    status: z.string(),
    reason: z.string().optional().catch(undefined),
    errorScreen: z
      .object({
        playerErrorMessageRenderer: z.object({ reason: text.optional(), subreason: text.optional() }),
      })
      .optional()
      .catch(undefined),
    liveStreamability: z
      .object({
        liveStreamabilityRenderer: z.object({
          offlineSlate: z.object({
            liveStreamOfflineSlateRenderer: z.object({ scheduledStartTime: z.string() }),
          }),
        }),
      })
      .optional()
      .catch(undefined),
  }),
  videoDetails: z
    .object({
      videoId: z.string(),
      title: z.string().optional().catch(undefined),
      author: z.string().optional().catch(undefined),
      thumbnail: z.object({ thumbnails }).optional().catch(undefined),
      isLive: flag,
      isLiveContent: flag,
      isUpcoming: flag,
      isPostLiveDvr: flag,
    })
    .optional()
    .catch(undefined),
  streamingData: z.object({ hlsManifestUrl: z.url().optional() }).optional().catch(undefined),
});

/** Used part of InnerTube's `/player` response. */
export type PlayerResponse = z.infer<typeof playerResponseSchema>;
