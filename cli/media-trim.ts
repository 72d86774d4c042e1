import type { EmbeddedMediaStore } from '../adapters/embedded/files/media-store.ts';
import type { EmbeddedWatchStore } from '../adapters/embedded/runs/watch-store.ts';
import type { Log } from '../core/ports/log.ts';

export type MediaTrimDeps = {
  /** Maximum size of all media, in megabytes. */
  maxMb: number;
  media: Pick<EmbeddedMediaStore, 'trim'>;
  watches: Pick<EmbeddedWatchStore, 'neededMedia'>;
  log: Log;
  now: () => Date;
};

const megabyte = 1e6;

/** Creates the step that keeps the media within their maximum. Logs the begin of each time in which they do not fit. */
export function createMediaTrim({ maxMb, media, watches, log, now }: MediaTrimDeps): () => Promise<void> {
  let fitted = true;
  return async () => {
    const maxBytes = maxMb * megabyte;
    const { removed, bytes } = await media.trim({ maxBytes, needed: watches.neededMedia(), now: now() });
    const fits = bytes <= maxBytes;
    if (removed > 0) log.info('Oldest media removed', { count: removed, max_mb: maxMb });
    if (!fits && fitted)
      log.warning('Media in use exceed WATCHPOST_MEDIA_MB; raise it or free the disk', {
        mb: Math.round(bytes / megabyte),
        max_mb: maxMb,
      });
    fitted = fits;
  };
}
