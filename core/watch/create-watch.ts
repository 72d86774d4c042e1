import { asWatch, type WatchRun } from '../records/run.ts';
import {
  IdempotencyKeyReusedError,
  InvalidInputModeError,
  MaxWatchesReachedError,
  UnauthorizedError,
  UnservedFieldError,
  WatchNotFoundError,
} from '../errors.ts';
import type { IdempotencyRecord, WatchCreation } from '../ports/runs.ts';
import { toWatchEvents } from '../records/watch-event.ts';
import type { StreamProbe } from '../records/capture.ts';
import type { DestinationAddress, Watch, WatchConfig } from '../records/watch.ts';
import { streamSchemes } from '../records/platform.ts';
import { probeStream, requireCapacity, requireClips } from '../stream/stream-access.ts';
import { maskUrl } from '../stream/mask-url.ts';
import { addressFields, type WatchRequest } from '../requests/watches.ts';
import { rules } from '../rules.ts';
import { addSeconds } from '../time.ts';
import { longestBeforeOpening } from '../policies/watch/clip-begin.ts';
import { createWatchRun } from '../policies/watch/initial-state.ts';
import { requireOwnWatch, startQuietly, type WatchDeps } from './commit-watch.ts';
import { splitRequest, toRequest, type Fingerprint } from './watch-config.ts';

/**
 * Creates a watch: probes the stream, stores the watch and then starts its execution. `reconcile` repairs an
 * interrupted start. A repeated request with the same idempotency key returns its watch without a probe. The API key
 * must still be valid when the watch is stored: the probe takes up to 20 s, in which the key can be revoked and its
 * caller erased.
 */
export async function createWatch(
  request: WatchRequest,
  caller: string,
  deps: WatchDeps,
  { key, keyHash }: { key?: string | undefined; keyHash?: string } = {},
): Promise<WatchRun> {
  const idempotency = key === undefined ? undefined : toIdempotencyRecord(key, request, deps);
  const earlier = idempotency && (await findEarlier(idempotency, caller, deps));
  if (earlier) return earlier;
  checkUrls(request, deps);
  checkInputMode(request, deps);
  checkServed(request, deps);
  requireCapacity(deps, caller);
  const { watchesPerCaller: maxWatches } = deps.limits;
  if ((await deps.watches.list(caller)).length >= maxWatches) throw new MaxWatchesReachedError(maxWatches);
  const probe = await probeStream(request.stream_url, caller, deps);
  requireClips(probe, request.input_mode);
  const served = withServedClip(request, probe, request.evidence_clip);
  const creation = {
    ...(await newWatch(served, caller, deps)),
    maxWatches,
    ...(keyHash !== undefined && { keyHash }),
    ...(idempotency && { idempotency }),
  };
  const result = await deps.watches.create(creation, deps.now());
  if (result.kind === 'full') throw new MaxWatchesReachedError(maxWatches);
  if (result.kind === 'key_reused') throw new IdempotencyKeyReusedError();
  if (result.kind === 'key_invalid') throw new UnauthorizedError();
  if (result.kind === 'replayed') return requireReplayed(result.runId, deps);
  deps.log.info('Watch created', { caller, watch_id: creation.run_id, stream_url: creation.stream_url });
  await startQuietly(creation, deps);
  return creation;
}

/** Returns the destinations of an own watch, with their addresses, for a new watch. Throws `WatchNotFoundError`. */
export async function copyDestinations(
  watchId: string,
  caller: string,
  deps: Pick<WatchDeps, 'runs' | 'now'>,
): Promise<WatchRequest['destinations']> {
  const { config } = await requireOwnWatch(watchId, caller, deps);
  const secrets = await deps.runs.secrets(watchId);
  return toRequest(config, '', secrets?.destinations ?? []).destinations;
}

/** Throws `InvalidUrlError` for a stream or a destination with a scheme or address that is not allowed. */
export function checkUrls(
  { stream_url: streamUrl, destinations }: Pick<WatchRequest, 'stream_url' | 'destinations'>,
  { urls, webhookUrls }: Pick<WatchDeps, 'urls' | 'webhookUrls'>,
): void {
  urls.check(streamUrl, streamSchemes);
  for (const [index, { type, url }] of destinations.entries()) {
    const schemes = type === 'mqtt' ? ['mqtt', 'mqtts'] : ['http', 'https'];
    if (url !== undefined) webhookUrls.check(url, schemes, `destinations[${index}].url`);
  }
}

/**
 * Throws `UnservedFieldError` for a budget in dollars of a model without a price, for a destination that the service
 * never reaches, and for `follow` on a host that only captures.
 */
export function checkServed(
  {
    budget,
    follow,
    destinations,
    evidence_clip: clip,
  }: Partial<Pick<WatchRequest, 'budget' | 'follow' | 'destinations' | 'evidence_clip'>>,
  deps: Pick<WatchDeps, 'modelPrice' | 'destinations' | 'vision' | 'limits'>,
): void {
  if (follow && !deps.limits.wakesOnMotion)
    throw new UnservedFieldError(
      ['follow'],
      'this service reads streams in its checks only; follow needs the service on one machine',
    );
  if (clip && deps.limits.evidenceClip === undefined)
    throw new UnservedFieldError(['evidence_clip'], 'this service makes no clips; use null');
  if (budget && budget.usd_per_day !== null && deps.modelPrice === null)
    throw new UnservedFieldError(
      ['budget', 'usd_per_day'],
      `the price of the model ${deps.vision.model} is unknown; use model_calls_per_day`,
    );
  for (const [index, destination] of (destinations ?? []).entries()) {
    const { type, to } = destination;
    const reason = deps.destinations.reasonToRefuse({ type, ...(to !== undefined && { to }) });
    if (reason === null) continue;
    throw new UnservedFieldError(['destinations', index, addressFields[type]], reason);
  }
}

/**
 * Returns the request without a clip if its stream gives single pictures. Throws `UnservedFieldError` if `asked` is
 * one: it came from the caller.
 */
export function withServedClip<Request extends Pick<WatchRequest, 'evidence_clip'>>(
  request: Request,
  { platform }: Pick<StreamProbe, 'platform'>,
  asked: WatchRequest['evidence_clip'],
): Request {
  if (platform !== 'jpeg') return request;
  if (asked)
    throw new UnservedFieldError(
      ['evidence_clip'],
      'the stream gives single pictures, of which no clip can be made; use null',
    );
  return { ...request, evidence_clip: null };
}

/** Throws `InvalidInputModeError` for clips with a model that takes images only. */
export function checkInputMode(
  { input_mode: mode }: Pick<WatchRequest, 'input_mode'>,
  { vision }: Pick<WatchDeps, 'vision'>,
): void {
  if (mode !== 'frames' && !vision.capabilities.supportsVideo)
    throw new InvalidInputModeError(mode, vision.model);
}

/**
 * Creates the hash of addresses under a key that no other caller has: a reader of fingerprints could guess the password
 * of a camera.
 */
export function createFingerprint(key: string, { sha256 }: Pick<WatchDeps, 'sha256'>): Fingerprint {
  return (address) => sha256(`${key}\n${address}`).slice(0, 16);
}

async function newWatch(
  request: WatchRequest,
  caller: string,
  deps: WatchDeps,
): Promise<Omit<WatchCreation, 'maxWatches'>> {
  const now = deps.now();
  const fingerprint = createFingerprint(await deps.signer.fingerprintKey(caller), deps);
  const { config, addresses } = splitRequest(request, fingerprint, deps.limits);
  const watch: Watch = {
    run_id: deps.newId(),
    policy: 'watch',
    caller,
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
    config_version: 1,
    stream_url: maskUrl(request.stream_url),
    stream_fingerprint: fingerprint(request.stream_url),
    source_id: deps.newId(),
    stream_phase: deps.streamPhase(request.stream_url),
    config,
  };
  const events = toWatchEvents(
    [{ type: 'watch_changed', data: { status: 'active', reason: 'created' } }],
    watch,
    0,
    now,
  );
  return {
    ...createWatchRun(watch, now),
    sequence: events.length,
    source: toSource(watch, request.stream_url, config),
    secrets: toSecrets(watch.run_id, addresses),
    events,
  };
}

export function toSource(
  { source_id, caller }: Pick<Watch, 'source_id' | 'caller'>,
  url: string,
  {
    input_mode,
    clip_duration_seconds,
    look_back,
    follow,
    regions,
    memory_days,
    evidence_clip: clip,
    interval_seconds: interval,
  }: WatchConfig,
) {
  // The next capture scans the stream since this one, and its opening may be the first of that.
  const scanned = Math.min(interval, maxScannedSeconds);
  return {
    source_id,
    caller,
    url,
    input_mode,
    clip_duration_seconds,
    look_back,
    follow,
    regions,
    memory_days,
    ...(clip && { clip_seconds: longestBeforeOpening(clip.before_seconds) + scanned }),
  };
}

/** Longest interval whose whole stream is kept for clips. */
const maxScannedSeconds = 120;

export function toSecrets(watchId: string, destinations: DestinationAddress[]) {
  return { watch_id: watchId, destinations };
}

function toIdempotencyRecord(
  key: string,
  request: WatchRequest,
  { sha256, now }: WatchDeps,
): IdempotencyRecord {
  const fields = Object.entries(request).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    key,
    requestHash: sha256(JSON.stringify(['watch', fields])),
    expiresAt: addSeconds(now(), rules.idempotencyKeySeconds),
  };
}

async function findEarlier(
  { key, requestHash }: IdempotencyRecord,
  caller: string,
  deps: WatchDeps,
): Promise<WatchRun | undefined> {
  const earlier = await deps.jobs.findByIdempotencyKey(caller, key, deps.now());
  if (earlier === undefined) return undefined;
  if (earlier.requestHash !== requestHash) throw new IdempotencyKeyReusedError();
  return requireReplayed(earlier.runId, deps);
}

/** Throws `WatchNotFoundError` for a watch that was deleted since: the key prevents a second one. */
async function requireReplayed(watchId: string, { runs, now }: WatchDeps): Promise<WatchRun> {
  const stored = asWatch(await runs.get(watchId, now()));
  if (stored === undefined) throw new WatchNotFoundError();
  return stored;
}
