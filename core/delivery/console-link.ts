import type { WatchEvent } from '../records/watch-event.ts';
import type { EvidenceLinks } from './evidence-link.ts';

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
