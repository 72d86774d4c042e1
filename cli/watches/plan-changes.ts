import { isDeepStrictEqual } from 'node:util';
import type { Watch, WatchPatch, WatchRequest as WatchBody } from '../../client/index.ts';
import { watchConfigSchema } from '../../core/records/watch.ts';
import type { WatchRequest } from '../../core/requests/watches.ts';
import { splitRequest, type Fingerprint } from '../../core/watch/watch-config.ts';
import { CommandError } from '../command-error.ts';

/** Step of `watchpost watch apply`. `changes` describes each changed field without secrets. */
export type Step =
  | { kind: 'create'; name: string; request: WatchBody }
  | { kind: 'change'; name: string; watch: Watch; patch: WatchPatch; changes: string[] }
  | { kind: 'unchanged'; name: string }
  | { kind: 'remove'; name: string; watch: Watch }
  | { kind: 'keep'; name: string };

/**
 * Compares the watches of a file with those of the service by name. With `prune`, watches that the file lacks are
 * removed. Removals come before creations, which need their room. Throws `CommandError` if the service has two watches
 * of a wanted name.
 */
export function planChanges(
  wanted: readonly WatchRequest[],
  existing: readonly Watch[],
  fingerprint: Fingerprint,
  prune: boolean,
): Step[] {
  const names = new Set(wanted.map(({ name }) => name));
  const others = existing.filter(({ name }) => !names.has(name));
  const steps = wanted.map((request): Step => {
    const { name } = request;
    const [watch, second] = existing.filter((candidate) => candidate.name === name);
    if (watch === undefined) return { kind: 'create', name, request: toBody(request) };
    if (second !== undefined)
      throw new CommandError(
        `The service has several watches named "${name}"`,
        `Rename or remove one of them: ${watch.watch_id}, ${second.watch_id}.`,
      );
    const { patch, changes } = compare(request, watch, fingerprint);
    return changes.length === 0
      ? { kind: 'unchanged', name }
      : { kind: 'change', name, watch, patch, changes };
  });
  const rest = others.map((watch): Step =>
    prune ? { kind: 'remove', name: watch.name, watch } : { kind: 'keep', name: watch.name },
  );
  const order = ['remove', 'change', 'create', 'unchanged', 'keep'];
  return [...steps, ...rest].toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

export function isChange(step: Step): boolean {
  return step.kind === 'create' || step.kind === 'change' || step.kind === 'remove';
}

/** Returns the body of a request, without absent fields. */
function toBody({
  evidence_clip: clip,
  ...request
}: WatchRequest): WatchBody & Required<Pick<WatchBody, 'conditions' | 'destinations'>> {
  return {
    ...request,
    ...(clip !== undefined && { evidence_clip: clip }),
    conditions: request.conditions.map(({ condition_id: id, ...rest }) => ({
      ...rest,
      ...(id !== undefined && { condition_id: id }),
    })),
    destinations: request.destinations.map(
      ({ destination_id: id, url, routing_key: routingKey, token, to, ...rest }) => ({
        ...rest,
        ...(id !== undefined && { destination_id: id }),
        ...(url !== undefined && { url }),
        ...(routingKey !== undefined && { routing_key: routingKey }),
        ...(token !== undefined && { token }),
        ...(to !== undefined && { to }),
      }),
    ),
  };
}

function compare(request: WatchRequest, watch: Watch, fingerprint: Fingerprint) {
  const { config } = splitRequest(request, fingerprint, {
    memoryDays: watch.memory_days,
    evidenceClip: watch.evidence_clip,
  });
  const isSameStream =
    watch.stream_fingerprint !== null && watch.stream_fingerprint === fingerprint(request.stream_url);
  const body = toBody(request);
  const patch: WatchPatch = isSameStream ? {} : { stream_url: request.stream_url };
  const changes = isSameStream ? [] : ['stream_url'];
  for (const field of watchConfigSchema.keyof().options) {
    if (isDeepStrictEqual(config[field], watch[field])) continue;
    Object.assign(patch, { [field]: body[field] });
    changes.push(describeChange(field, watch[field], config[field]));
  }
  return { patch, changes };
}

function describeChange(field: string, before: unknown, after: unknown): string {
  if (Array.isArray(before) && Array.isArray(after)) return describeEntries(field, before, after);
  if (!isPlain(before) || !isPlain(after)) return field;
  return `${field} ${JSON.stringify(before)} → ${JSON.stringify(after)}`;
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

/** Describes changed conditions and destinations by their id. */
function describeEntries(field: string, before: readonly unknown[], after: readonly unknown[]): string {
  const [old, next] = [byId(before), byId(after)];
  const added = [...next.keys()].filter((id) => !old.has(id)).map((id) => `+${id}`);
  const changed = [...next]
    .filter(([id, entry]) => old.has(id) && !isDeepStrictEqual(entry, old.get(id)))
    .map(([id]) => `~${id}`);
  const removed = [...old.keys()].filter((id) => !next.has(id)).map((id) => `-${id}`);
  const all = [...added, ...changed, ...removed];
  return all.length === 0 ? field : `${field} ${all.join(' ')}`;
}

function byId(entries: readonly unknown[]): Map<string, unknown> {
  return new Map(
    entries.flatMap((entry): [string, unknown][] => {
      if (typeof entry !== 'object' || entry === null) return [];
      if ('condition_id' in entry) return [[String(entry.condition_id), entry]];
      return 'destination_id' in entry ? [[String(entry.destination_id), entry]] : [];
    }),
  );
}
