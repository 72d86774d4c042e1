import type { Finding, HealthReader, MediaUse } from '../../core/ports/observability.ts';
import type { WatchStore } from '../../core/ports/runs.ts';
import { countWatches } from '../../core/observability/metrics.ts';
import type { Pace } from '../../core/ports/pace.ts';
import type { LocatedFfmpeg } from '../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import type { Settings } from '../settings.ts';
import {
  clockFinding,
  diskFinding,
  ffmpegFinding,
  guardFinding,
  loadFinding,
  mediaFinding,
  portsFinding,
  watchesFinding,
} from './checks.ts';

export type ServiceHealthDeps = {
  settings: Settings;
  ffmpeg: LocatedFfmpeg;
  port: number;
  model: { read(): Finding };
  /** Newest stored time; undefined in an empty database. */
  newestEntry: () => Date | undefined;
  pace: Pick<Pace, 'read'>;
  watches: Pick<WatchStore, 'standing'>;
  mediaUse: MediaUse;
  now: () => Date;
};

/** Creates the checks of the running service, in the order of the start banner. */
export function createServiceHealth(deps: ServiceHealthDeps): HealthReader {
  const { settings, ffmpeg, port, model, now } = deps;
  return {
    read: async () => [
      model.read(),
      ffmpegFinding(ffmpeg),
      guardFinding(settings),
      await diskFinding(settings.dataDir),
      mediaFinding(deps.mediaUse, now()),
      clockFinding(now(), deps.newestEntry()),
      portsFinding(settings, port),
      loadFinding(deps.pace.read()),
      watchesFinding(countWatches(await deps.watches.standing(), now())),
    ],
  };
}
