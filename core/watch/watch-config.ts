import type { Limits } from '../dependencies.ts';
import { defaultNotify } from '../delivery/receivers.ts';
import type { Destination, DestinationAddress, WatchConfig } from '../records/watch.ts';
import { addressFields } from '../requests/watches.ts';
import type { DestinationRequest, WatchRequest } from '../requests/watches.ts';
import { maskUrl } from '../stream/mask-url.ts';
import { maskRecipient } from '../mask-recipient.ts';

/** Addresses of destinations in a request, apart from the configuration. */
export type SplitConfig = { config: WatchConfig; addresses: DestinationAddress[] };

/** Returns the keyed hash of an address. */
export type Fingerprint = (address: string) => string;

/**
 * Splits a request into the configuration of a watch and the addresses of its destinations. Assigns missing ids and the
 * defaults of the service.
 */
export function splitRequest(
  request: WatchRequest,
  fingerprint: Fingerprint,
  { memoryDays = 0, evidenceClip = null }: Pick<Limits, 'memoryDays' | 'evidenceClip'>,
): SplitConfig {
  const { stream_url: _, ...rest } = request;
  const destinationIds = assignIds(request.destinations, ({ destination_id: id, type }) => id ?? type);
  const addresses = request.destinations.map((destination, index) =>
    readAddress(destination, destinationIds[index] ?? ''),
  );
  return {
    config: {
      ...rest,
      memory_days: rest.memory_days ?? memoryDays,
      evidence_clip: rest.evidence_clip === undefined ? evidenceClip : rest.evidence_clip,
      conditions: nameConditions(request.conditions),
      destinations: request.destinations.map((destination, index) =>
        toDestination(destination, addresses[index], fingerprint),
      ),
    },
    addresses,
  };
}

/** Returns the request that would create a configuration, with its addresses. */
export function toRequest(
  config: WatchConfig,
  streamUrl: string,
  addresses: readonly DestinationAddress[],
): WatchRequest {
  const destinations = config.destinations.map((destination) => ({
    ...destination,
    ...addresses.find(({ destination_id: id }) => id === destination.destination_id),
  }));
  const conditions = config.conditions.map((condition) => ({
    ...condition,
    open_after_seconds: condition.open_after_seconds ?? 0,
    alert_on: condition.alert_on ?? ('by_checks' as const),
    sensitivity: condition.sensitivity ?? 'normal',
  }));
  return { ...config, stream_url: streamUrl, conditions, destinations };
}

export function maskAddress(address: DestinationAddress): string {
  const text = addressText(address);
  if (address.type === 'email') return maskRecipient(text);
  const isName = address.type === 'pagerduty' || address.type === 'telegram';
  return isName ? `${text.slice(0, 3)}***` : maskAll(text);
}

/** Returns a URL with its host only: the path of a receiver is often its secret. */
function maskAll(url: string): string {
  const [, origin] = /^([a-z]+:\/\/[^/?#]*)/i.exec(maskUrl(url)) ?? [];
  return origin === undefined ? '***' : `${origin}/***`;
}

function addressText(address: DestinationAddress | DestinationRequest): string {
  return address[addressFields[address.type]] ?? '';
}

/** Returns all secrets of an address as one text: a new token is a change too. */
function secretText(address: DestinationAddress): string {
  const others = (['url', 'routing_key', 'token', 'to'] as const).filter(
    (field) => field !== addressFields[address.type],
  );
  return [addressText(address), ...others.map((field) => address[field]).filter(Boolean)].join('\n');
}

function readAddress(destination: DestinationRequest, destinationId: string): DestinationAddress {
  const { type, url, routing_key: routingKey, token, to } = destination;
  return {
    destination_id: destinationId,
    type,
    ...(url !== undefined && { url }),
    ...(routingKey !== undefined && { routing_key: routingKey }),
    ...(token !== undefined && { token }),
    ...(to !== undefined && { to }),
  };
}

function toDestination(
  { type, notify, min_severity, include_frame, include_clip }: DestinationRequest,
  address: DestinationAddress | undefined,
  fingerprint: Fingerprint,
): Destination {
  return {
    destination_id: address?.destination_id ?? '',
    type,
    url_masked: address ? maskAddress(address) : '',
    fingerprint: fingerprint(address ? secretText(address) : ''),
    notify: notify ?? defaultNotify[type],
    min_severity,
    include_frame,
    include_clip,
  };
}

export function nameConditions(conditions: WatchRequest['conditions']): WatchConfig['conditions'] {
  const ids = assignIds(conditions, ({ condition_id: id, condition }) => id ?? slug(condition));
  return conditions.map((condition, index) => ({ ...condition, condition_id: ids[index] ?? '' }));
}

/** Returns one id per entry: the wanted one, with a number if an earlier entry has it. Given ids come first. */
function assignIds<
  Entry extends { condition_id?: string | undefined } | { destination_id?: string | undefined },
>(entries: readonly Entry[], wanted: (entry: Entry) => string): string[] {
  const taken = new Set(entries.flatMap((entry) => givenId(entry) ?? []));
  return entries.map((entry) => {
    const given = givenId(entry);
    if (given !== undefined) return given;
    const id = findFree(wanted(entry), taken);
    taken.add(id);
    return id;
  });
}

function givenId(entry: { condition_id?: string | undefined } | { destination_id?: string | undefined }) {
  return 'condition_id' in entry
    ? entry.condition_id
    : 'destination_id' in entry
      ? entry.destination_id
      : undefined;
}

function findFree(id: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? id : `${id}-${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}

const maxSlugLength = 32;

/** Returns an id made of the words of a condition. */
function slug(condition: string): string {
  const words = condition
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength)
    .replaceAll(/^-|-$/g, '');
  return words === '' ? 'condition' : words;
}
