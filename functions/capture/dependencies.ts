import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readSource } from '../../adapters/aws/dynamodb/runs/run-item.ts';
import { openTable } from '../../adapters/aws/dynamodb/table/open-table.ts';
import { clientSettings } from '../../adapters/aws/client-settings.ts';
import { deferMediaStore } from '../../adapters/aws/deferred.ts';
import type { CaptureCallDeps } from '../../adapters/aws/invoke/capture-calls.ts';
import { createLookup } from '../../adapters/aws/lookup.ts';
import { createPlatformSecret } from '../../adapters/aws/platform-secret.ts';
import { createSecret } from '../../adapters/aws/secret.ts';
import { instrumentCapturer } from '../../adapters/aws/telemetry/instrument.ts';
import { createTelemetry, type Telemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import { createEgressGuard } from '../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../adapters/egress/guarded-http.ts';
import { awaitClip } from '../../adapters/media/clips/await-clip.ts';
import { createJoinClip } from '../../adapters/media/clips/join-clip.ts';
import { createKeptStreams } from '../../adapters/media/clips/kept-stream.ts';
import { withoutTurns } from '../../adapters/media/ffmpeg/in-turn.ts';
import { createContactSheets } from '../../adapters/media/images/contact-sheet.ts';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { resizeJpeg } from '../../adapters/media/ffmpeg/resize-jpeg.ts';
import { createMaskMedia, maskCaptures } from '../../adapters/media/images/mask-media.ts';
import { compareMotion } from '../../adapters/media/motion/compare-motion.ts';
import { createStreamCapturer } from '../../adapters/media/stream-capturer.ts';
import { systemBackoff } from '../../adapters/retry-with-backoff.ts';
import { defaultPlatformSettings } from '../../adapters/platforms/platform-settings.ts';
import type { PlatformSettings } from '../../adapters/platforms/platform-settings.ts';
import type { SetTimer } from '../../core/time-limit.ts';
import type { CaptureDeps } from '../../core/workflow/capture-tick.ts';
import { createMakeClip } from '../../core/watch/record-clip.ts';
import type { CaptureConfig } from './config.ts';

const now = () => new Date();
const newId = () => randomUUID();

export type CaptureFunctionDeps = CaptureDeps &
  CaptureCallDeps &
  Pick<Telemetry, 'during' | 'log'> & { setTimer?: SetTimer };

/** Creates the dependencies, once per instance: resolved URLs and playlists are cached between ticks. */
export function createDependencies(config: CaptureConfig): CaptureFunctionDeps {
  const telemetry = createTelemetry({
    level: config.LOG_LEVEL,
    service: config.POWERTOOLS_SERVICE_NAME,
  });
  const { measurements, during, log } = telemetry;
  const guard = createEgressGuard({
    allowRanges: config.ALLOW_RANGES,
    denyRanges: config.DENY_RANGES,
    setting: 'stage setting allowRanges',
    lookup: createLookup(),
  });
  const ffmpeg = createFfmpegRunner({ ffmpegPath: config.FFMPEG_PATH, tempDir: tmpdir() });
  const clips = {
    kept: createKeptStreams({ maxBytes: keptBytes, now }),
    join: createJoinClip({ ffmpegPath: config.FFMPEG_PATH, inTurn: withoutTurns }),
  };
  const capturer = createStreamCapturer({
    guard,
    http: createGuardedHttp(guard),
    ffmpeg,
    now,
    platforms: createPlatforms(config, telemetry),
    clips,
  });
  const media = deferMediaStore({ bucket: config.MEDIA_BUCKET });
  const { clip } = capturer;
  const maskMedia = createMaskMedia({ ffmpegPath: config.FFMPEG_PATH, tempDir: tmpdir() });
  const client = new DynamoDBClient(clientSettings);
  const table = openTable({ client, tableName: config.TABLE_NAME, newId, ...systemBackoff });
  return {
    // The role may read only `SOURCE#` items of the table. All stores would add 57 kB to a cold start.
    runs: { source: async (sourceId) => readSource(table, sourceId) },
    media,
    makeClip: createMakeClip({ media, streams: clip ? awaitClip({ clip, elapsedMs, wait, maxWaitMs }) : {} }),
    streams: instrumentCapturer(maskCaptures(capturer, maskMedia), {
      measurements,
      elapsedMs,
    }),
    contactSheets: createContactSheets({ ffmpegPath: config.FFMPEG_PATH }),
    resizeJpeg: async (jpeg, widthPixels, signal) =>
      resizeJpeg(jpeg, widthPixels, config.FFMPEG_PATH, signal),
    compareMotion,
    limits: { captureTimeoutSeconds },
    now,
    newId,
    during,
    log,
  };
}

const elapsedMs = () => performance.now();
const wait = async (milliseconds: number, signal: AbortSignal) =>
  setTimeout(milliseconds, undefined, { signal });
/** Streams in memory of an instance: a clip waits for its end in one call. */
const keptBytes = 96 * 1024 * 1024;
/**
 * Wait for the end of a clip: what follows an opening, and the last segment. It leaves time to encode one with regions.
 */
const maxWaitMs = 36_000;

/**
 * Timeout of a capture, in seconds: a camera may need 15 s to respond, 20 s to a key frame, 10 s for a clip. Task: 60
 * s.
 */
const captureTimeoutSeconds = 50;

/**
 * Returns platform settings without accounts and proxies, or a function that reads them from the secret on first use.
 */
function createPlatforms(
  { YOUTUBE_CLIENTS: clients, PLATFORM_SECRET_ARN: arn }: CaptureConfig,
  { log }: Telemetry,
): PlatformSettings | (() => Promise<PlatformSettings>) {
  const { youtube, ...others } = defaultPlatformSettings;
  const plain = { ...others, youtube: { ...youtube, clients: clients ?? youtube.clients } };
  if (arn === undefined) return plain;
  const secret = createSecret({ client: new SecretsManagerClient(clientSettings), arn, now });
  return createPlatformSecret(secret, plain, log);
}
