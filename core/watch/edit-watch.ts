import { PreconditionFailedError, WatchNotFoundError } from '../errors.ts';
import type { WatchRun } from '../records/run.ts';
import { watchConfigSchema, watchSchema, type Watch, type WatchConfig } from '../records/watch.ts';
import { addressFields, type WatchPatch, type WatchRequest } from '../requests/watches.ts';
import { probeStream, requireClips } from '../stream/stream-access.ts';
import { maskUrl } from '../stream/mask-url.ts';
import { changeWatch, hasSameField } from '../policies/watch/change.ts';
import {
  changeStoredWatch,
  requireOwnWatch,
  removeQuietly,
  startQuietly,
  type WatchDeps,
} from './commit-watch.ts';
import {
  checkInputMode,
  checkServed,
  checkUrls,
  createFingerprint,
  toSecrets,
  toSource,
  withServedClip,
} from './create-watch.ts';
import { endFormer, readFormer, type Former, type FormerDestination } from './end-former.ts';
import type { StreamProbe } from '../records/capture.ts';
import { addSeconds } from '../time.ts';
import { forgetMoments } from './forget-moments.ts';
import { splitRequest, toRequest } from './watch-config.ts';

/** Change of a watch: `ifMatch` is the expected version of its configuration, undefined for any. */
export type WatchEdit = { watchId: string; patch: WatchPatch; ifMatch: number | undefined };

/**
 * Applies a merge patch. `validate` checks the result as a whole; it throws for a watch that no request could create.
 * Conditions and destinations match by id. Returns the watch with the destinations that receive nothing more. Throws
 * `PreconditionFailedError` if the configuration has another version than `ifMatch`.
 */
export async function editWatch(
  { watchId, patch, ifMatch }: WatchEdit,
  caller: string,
  deps: WatchDeps,
  validate: (merged: unknown) => WatchRequest,
): Promise<WatchRun & { former: FormerDestination[] }> {
  const fingerprint = createFingerprint(await deps.signer.fingerprintKey(caller), deps);
  const probe = await probeChangedStream(watchId, patch, caller, deps);
  let unseen: string[] = [];
  let ending: { watch: WatchRun; former: Former[] } | undefined;
  const changed = await changeStoredWatch(watchId, caller, deps, async (watch) => {
    if (ifMatch !== undefined && ifMatch !== watch.config_version)
      throw new PreconditionFailedError(watch.config_version);
    const { before, stored } = await readRequest(watch, deps);
    ending = undefined;
    const merged = validate(applyPatch(before, patch, watch));
    checkUrls(merged, deps);
    checkNamed(merged, patch, deps);
    if (probe) requireClips(probe, merged.input_mode);
    const request = probe ? withServedClip(merged, probe, patch.evidence_clip) : merged;
    const { config, addresses } = splitRequest(request, fingerprint, deps.limits);
    const streamFingerprint = fingerprint(request.stream_url);
    // The same regions again say that they fit another view too.
    const drawsRegions = patch.regions !== undefined && isOtherView(watch);
    if (isSame(watch, config, streamFingerprint) && !drawsRegions) return undefined;
    const now = deps.now();
    const isOtherStream = isOther(request.stream_url, before.stream_url);
    const decided = changeWatch(watch, { config, isOtherStream, drawsRegions }, now);
    unseen = decided.set.sight?.last_frame === null ? listKeys(watch) : [];
    const version = watch.config_version + 1;
    const sequence = watch.sequence + decided.events.length;
    const isOtherPicture =
      request.stream_url !== before.stream_url || !hasSameField(watch.config, config, 'regions');
    ending = { watch, former: await readFormer(watch, config, stored, deps) };
    return {
      ...decided,
      meta: {
        ...watchSchema.parse(watch),
        config,
        config_version: version,
        updated_at: now.toISOString(),
        ...moveStream(watch, maskUrl(request.stream_url), sequence),
        ...(isOtherPicture && { view_sequence: sequence }),
        stream_fingerprint: streamFingerprint,
        stream_phase: deps.streamPhase(request.stream_url),
      },
      source: toSource(watch, request.stream_url, config),
      secrets: toSecrets(watchId, addresses),
    };
  });
  await startQuietly(changed, deps);
  if (unseen.length > 0) await removeQuietly(changed, () => deps.media.remove(unseen), deps);
  // First: nothing else ends what stands open at destinations that are gone.
  const former = ending ? await endFormer(ending.former, ending.watch, changed, deps) : [];
  const { memory_days: days } = changed.config;
  if (ending && days < ending.watch.config.memory_days) {
    const before = days === 0 ? null : addSeconds(deps.now(), -days * daySeconds);
    await removeQuietly(changed, () => forgetMoments(watchId, before, deps), deps);
  }
  return { ...changed, former };
}

const daySeconds = 86_400;

/**
 * Checks the fields that a patch names: a watch keeps what this service has ceased to serve, and can still be changed.
 */
function checkNamed(request: WatchRequest, patch: WatchPatch, deps: WatchDeps): void {
  if (patch.input_mode !== undefined) checkInputMode(request, deps);
  checkServed(
    {
      ...(patch.budget !== undefined && { budget: request.budget }),
      ...(patch.follow !== undefined && { follow: request.follow }),
      ...(patch.destinations !== undefined && { destinations: request.destinations }),
      ...(patch.evidence_clip !== undefined && { evidence_clip: request.evidence_clip }),
    },
    deps,
  );
}

/** Lists the key of the newest frame, unless it is a moment. */
function listKeys({ sight: { last_frame: last } }: WatchRun): string[] {
  return last && !last.evidence ? [last.key] : [];
}

const maxFormerStreams = 8;

/** Returns the stream after a change, whose own event has the sequence. */
function moveStream(
  watch: Watch,
  url: string,
  sequence: number,
): Pick<Watch, 'stream_url' | 'former_streams'> {
  const { stream_url: before, former_streams: former = [] } = watch;
  if (url === before) return { stream_url: url };
  const ended = { stream_url: before, last_sequence: sequence - 1 };
  return { stream_url: url, former_streams: [...former, ended].slice(-maxFormerStreams) };
}

/** Returns true if the camera shows another view than that of the regions. */
function isOtherView({ state }: WatchRun): boolean {
  return (state.health.view?.other ?? null) !== null;
}

/** Returns true if a change changes nothing; fingerprints stand for addresses. */
function isSame(watch: Watch, config: WatchConfig, streamFingerprint: string): boolean {
  return watch.stream_fingerprint === streamFingerprint && toText(watch.config) === toText(config);
}

/** Returns a configuration as text, with its fields in the order of the schema. */
function toText(config: WatchConfig): string {
  return JSON.stringify(watchConfigSchema.parse(config));
}

/**
 * Returns true if two URLs differ in host, path or a query that names a camera or broadcast: another password or token
 * is the same stream.
 */
function isOther(one: string, other: string): boolean {
  return readPlace(one) !== readPlace(other);
}

function readPlace(url: string): string {
  const { host, pathname } = new URL(url);
  const query = new URLSearchParams(maskUrl(url).split('?', 2)[1]);
  const names = [...query].filter(([, value]) => value !== '***').map((pair) => pair.join('='));
  return [host, pathname, ...names.toSorted()].join('\n');
}

/**
 * Probes a new stream before the change, and its own for clips of checks or of alerts, once: a plan may run several
 * times. Returns null without a probe.
 */
async function probeChangedStream(
  watchId: string,
  { stream_url: url, input_mode: mode, evidence_clip: clip }: WatchPatch,
  caller: string,
  deps: WatchDeps,
): Promise<StreamProbe | null> {
  const watch = await requireOwnWatch(watchId, caller, deps);
  if (url !== undefined && url !== watch.stream_url) {
    checkUrls({ stream_url: url, destinations: [] }, deps);
    return probeStream(url, caller, deps);
  }
  const mayNeedClips = mode && mode !== 'frames' && mode !== watch.config.input_mode;
  const source =
    mayNeedClips || (clip && !watch.config.evidence_clip)
      ? await deps.runs.source(watch.source_id)
      : undefined;
  return source ? probeStream(source.url, caller, deps) : null;
}

/** Returns the request that would create the watch, and the addresses in it. */
async function readRequest(watch: Watch, { runs }: WatchDeps) {
  const [source, secrets] = await Promise.all([runs.source(watch.source_id), runs.secrets(watch.run_id)]);
  // Both exist as long as the watch: it was deleted meanwhile.
  if (!source || !secrets) throw new WatchNotFoundError();
  const { destinations: stored } = secrets;
  return { before: toRequest(watch.config, source.url, stored), stored };
}

/**
 * Returns the patched request before validation. `null` removes a field, so that its default applies; masked values are
 * unchanged.
 */
function applyPatch(before: WatchRequest, patch: WatchPatch, watch: Watch): unknown {
  const { stream_url: streamUrl, schedule, budget, destinations, ...rest } = patch;
  const merged = {
    ...before,
    ...rest,
    ...(streamUrl !== undefined && streamUrl !== watch.stream_url && { stream_url: streamUrl }),
    ...(schedule !== undefined && { schedule: mergeObject(before.schedule, schedule) }),
    ...(budget !== undefined && { budget: mergeObject(before.budget, budget) }),
    ...(destinations !== undefined && { destinations: withAddresses(destinations, before, watch) }),
  };
  return Object.fromEntries(
    Object.entries(merged).filter(([name, value]) => value !== null || nullable.has(name)),
  );
}

/** Fields for which `null` is a value. */
const nullable = new Set(['schedule', 'budget', 'regions', 'evidence_clip']);

function mergeObject(before: object | null, patch: object | null): object | null {
  return patch === null ? null : { ...before, ...patch };
}

/** Fills in addresses that a patch omits or repeats masked, by the id of the destination. */
function withAddresses(
  destinations: WatchPatch['destinations'],
  before: WatchRequest,
  watch: Watch,
): WatchPatch['destinations'] {
  return destinations?.map((destination) => {
    const isThis = (other: { destination_id?: string | undefined; type: string }) =>
      other.destination_id === destination.destination_id && other.type === destination.type;
    const stored = destination.destination_id === undefined ? undefined : before.destinations.find(isThis);
    const field = addressFields[destination.type];
    const isMasked = destination[field] === watch.config.destinations.find(isThis)?.url_masked;
    const given = isMasked ? { ...destination, [field]: undefined } : destination;
    if (stored === undefined) return given;
    // Another address gets no secret of the one before, whichever field names it. Another chat keeps its server.
    const isChat = given.type === 'telegram' && given.url === undefined;
    if (given[field] !== undefined) return isChat ? { ...given, url: stored.url } : given;
    if (given.url !== undefined && given.url !== stored.url) return given;
    return { ...given, url: stored.url, token: given.token ?? stored.token, [field]: stored[field] };
  });
}
