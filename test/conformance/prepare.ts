import { createApi } from './api.ts';
import type { Need, Target } from './case.ts';
import type { Options } from './options.ts';
import type { Setting } from './run-cases.ts';
import { startReceiver } from './sources/receiver.ts';
import { startOwnStreams, type OwnStreams, type Streams } from './sources/streams.ts';

type Missing = Partial<Record<Need, string>>;

/** Prepared setting of the cases. */
export type Prepared = { setting: Setting; close(): Promise<void> };

/** Starts the streams and the receiver of the cases, and lists unmet needs with the reason. */
export async function prepare(options: Options): Promise<Prepared> {
  await using cleanup = new AsyncDisposableStack();
  const isLocal = isLoopback(options['base-url']);
  const own =
    isLocal && options['stream-url'] === undefined ? await startOwnStreams(options.ffmpeg) : undefined;
  if (own) cleanup.defer(() => own.close());
  const receiver = await startReceiver({
    host: '127.0.0.1',
    port: options['receiver-port'] ?? 0,
    url: options['receiver-url'],
  });
  cleanup.defer(() => receiver.close());
  const streams = findStreams(options, own);
  const refusal = own && (await findRefusal(options, streams));
  const setting = {
    baseUrl: options['base-url'],
    keys: options.key,
    internalKey: options['internal-key'],
    streams,
    receiver,
    conditions: { holds: options.holds, fails: options.fails } satisfies Target['conditions'],
    retentionSeconds: options.retention ?? 0,
    missing: findMissing(options, streams, { isLocal, isOwn: own !== undefined, refusal }),
  };
  const held = cleanup.move();
  return { setting, close: () => held.disposeAsync() };
}

function findStreams(options: Options, own: OwnStreams | undefined): Streams {
  return {
    live: options['stream-url'] ?? own?.streams.live ?? '',
    rtsp: options['rtsp-url'] ?? own?.streams.rtsp ?? '',
    still: own?.streams.still ?? '',
    recording: options['vod-url'] ?? own?.streams.recording ?? '',
    broken: own?.streams.broken ?? '',
    offline: own?.streams.offline ?? '',
    web: own?.streams.web ?? { jpeg: '', mjpeg: '', mpegts: '' },
    platforms: options['platform-url'],
    startMortal:
      own?.streams.startMortal ?? (() => Promise.reject(new Error('The suite has no own streams'))),
  };
}

type World = { isLocal: boolean; isOwn: boolean; refusal: string | undefined };

function findMissing(options: Options, streams: Streams, { isLocal, isOwn, refusal }: World): Missing {
  const given = (address: string, flag: string): string | undefined =>
    address === '' ? `The service is not on loopback: use ${flag}` : isOwn ? refusal : undefined;
  const needs = {
    stream: given(streams.live, '--stream-url'),
    rtsp: given(streams.rtsp, '--rtsp-url'),
    recording: given(streams.recording, '--vod-url'),
    'own streams': isOwn
      ? refusal
      : 'Requires the streams of the suite, which only a service on loopback can reach',
    platform:
      streams.platforms.length > 0 ? undefined : 'Requires a live stream of a platform: use --platform-url',
    receiver: receiverReason(options, isLocal) ?? (isOwn ? refusal : undefined),
    'internal key': options['internal-key'] ? undefined : 'Requires --internal-key',
    'second caller': options.key.length > 1 ? undefined : 'Requires a second --key, of another caller',
    retention: options.retention
      ? undefined
      : 'Ended jobs are retained for about an hour: use --retention with a service that retains at most 120 s',
    decisions: options['interface-only'] ? 'Decided by this project: omitted by --interface-only' : undefined,
    slow: options.slow ? undefined : 'Takes minutes: use --slow',
  } satisfies Record<Need, string | undefined>;
  return Object.fromEntries(Object.entries(needs).filter(([, reason]) => reason !== undefined));
}

function receiverReason(options: Options, isLocal: boolean): string | undefined {
  if (isLocal || options['receiver-url']) return undefined;
  return 'The service is not on loopback: use --receiver-url and --receiver-port';
}

/** Returns the reason if the service rejects streams on loopback, else undefined. */
async function findRefusal(options: Options, { live }: Streams): Promise<string | undefined> {
  const api = createApi({
    baseUrl: options['base-url'],
    key: options.key[0] ?? '',
    signal: AbortSignal.timeout(60_000),
  });
  const { body } = await api.call('POST', '/streams/validate', { stream_url: live });
  if (body?.error?.code !== 'INVALID_URL') return undefined;
  return 'The service rejects loopback addresses: start it with WATCHPOST_ALLOW_RANGES=127.0.0.0/8 WATCHPOST_ALLOW_WEBHOOK_RANGES=127.0.0.0/8';
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
