import type { CoreDeps } from '../dependencies.ts';
import { WatchpostError } from '../errors.ts';
import type { LinkSigner } from '../ports/delivery.ts';
import { holdMedia, openMedia, type MediaFile, type MediaStore } from '../ports/media-store.ts';
import type { RunStore } from '../ports/runs.ts';
import { asWatch, type RunEvent } from '../records/run.ts';
import type { EvidenceBox } from '../records/vision.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import { rules } from '../rules.ts';
import { readFrame } from '../stream/shown-frame.ts';
import { addSeconds } from '../time.ts';

/** Links to the evidence of an event, for receivers without a key. */
export type EvidenceLinks = {
  signer: LinkSigner;
  /** Address of the service, without `/api`. */
  origin: string;
  /** True if receivers on the Internet reach `origin`. */
  isPublic: boolean;
};

type Position = Pick<WatchEvent, 'watch_id' | 'sequence'>;

/** Path of a link, below the origin. */
export const evidencePath = '/evidence';

/**
 * Creates the link to the evidence of an event: signed, and valid for `rules.evidenceLinkSeconds` after the event, so
 * that all attempts send the same link. `withBoxes`: the picture has its boxes drawn. Outside of `/api`, because
 * receivers such as Slack have no key.
 */
export async function createEvidenceLink(
  { watch_id, sequence, timestamp, type }: Position & Pick<WatchEvent, 'timestamp' | 'type'>,
  { origin, signer }: Pick<EvidenceLinks, 'origin' | 'signer'>,
  withBoxes = false,
): Promise<string> {
  const expires = Math.floor(addSeconds(new Date(timestamp), rules.evidenceLinkSeconds).getTime() / 1000);
  const signature = await signer.sign(signedText({ watch_id, sequence }, expires));
  const boxes = withBoxes ? { boxes: 'true' } : {};
  const query = new URLSearchParams({ expires: String(expires), signature, ...boxes }).toString();
  return `${origin}${evidencePath}/${watch_id}/${sequence}.${type === 'alert_clip' ? 'mp4' : 'jpg'}?${query}`;
}

/**
 * Reads the evidence behind a link: a JPEG, or the MP4 of an event with a clip. Throws `FORBIDDEN` for a link that is
 * invalid or has expired, `NOT_FOUND` if the evidence is gone, at the latest when it is read.
 */
export async function readEvidence(
  link: Position & { expires: number; signature: string; boxes?: 'true' | undefined },
  deps: Pick<CoreDeps, 'drawBoxes'> & {
    signer: LinkSigner;
    runs: Pick<RunStore, 'get' | 'event'>;
    media: Pick<MediaStore, 'get'>;
    now: () => Date;
  },
): Promise<MediaFile> {
  const isValid = await deps.signer.verify(signedText(link, link.expires), link.signature);
  if (!isValid || link.expires * 1000 <= deps.now().getTime())
    throw new WatchpostError(
      'FORBIDDEN',
      'This link is invalid or has expired',
      'Open the alert in the console, or read GET /alerts/{alert_id}/frame with a key.',
    );
  const stored = asWatch(await deps.runs.get(link.watch_id, deps.now()));
  const event = stored && (await deps.runs.event(link.watch_id, link.sequence));
  const absent = new WatchpostError(
    'NOT_FOUND',
    'This picture is gone',
    'Evidence is kept for retention_days of the watch.',
  );
  const key = event ? findEvidenceKey(event) : null;
  if (!event || key === null) throw absent;
  if ('clip_key' in event.data && event.data.bytes !== null)
    return openMedia(key, event.data.bytes, absent, deps);
  const frame = await readFrame(key, link.boxes ? readBoxes(event) : [], deps);
  if (!frame) throw absent;
  return holdMedia(key, frame);
}

/** Returns the key of the picture or clip of an event; `null` without one. */
export function findEvidenceKey({ data }: Pick<RunEvent, 'data'>): string | null {
  if ('clip_key' in data) return data.clip_key;
  return 'frame_key' in data ? (data.frame_key ?? null) : null;
}

export function readBoxes({ data }: Pick<RunEvent, 'data'>): readonly EvidenceBox[] {
  return 'boxes' in data ? (data.boxes ?? []) : [];
}

function signedText({ watch_id, sequence }: Position, expires: number): string {
  return `${watch_id}\n${sequence}\n${expires}`;
}

/** Facts of the service in messages for people. */
export type MessageFacts = {
  model: string;
  /** Time zone of the service, for watches without a schedule. */
  timeZone: string;
  /**
   * Returns the address at which a caller last opened the console, without a path; absent where the address of the
   * service is public.
   */
  consoleAddress?: (caller: string) => string | undefined;
};

/**
 * Creates the link to the page of the console about an event. Without a public address and before the console was
 * opened elsewhere, its note says where it works.
 */
export function createConsoleLink(
  { watch_id: watchId, data }: WatchEvent,
  caller: string,
  { origin, isPublic }: Pick<EvidenceLinks, 'origin' | 'isPublic'>,
  { consoleAddress }: Pick<MessageFacts, 'consoleAddress'>,
): { url: string; note: string } {
  const page = 'alert_id' in data ? `alerts/${data.alert_id}` : `watches/${watchId}`;
  const path = `/console#/${page}`;
  if (isPublic) return { url: `${origin}${path}`, note: '' };
  const opened = consoleAddress?.(caller);
  return opened === undefined
    ? {
        url: `${origin}${path}`,
        note: 'This address works on the machine of the service only.',
      }
    : { url: `${opened}${path}`, note: '' };
}
