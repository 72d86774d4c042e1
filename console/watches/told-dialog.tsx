import type { ChangedWatch, DeletedWatch } from '../api/types.ts';
import { Dialog } from '../parts/dialog.tsx';
import { pluralize } from '../time/format.ts';
import { navigate } from '../shell/routes.ts';

type Destination = NonNullable<DeletedWatch['notified'] | ChangedWatch['former_destinations']>[number];

/** Destinations that keep an open message, and the page that follows. */
export type Told = { destinations: Destination[]; next?: string };

/**
 * Returns the destinations of an answer that were notified of something, or where an end failed; undefined without one.
 */
export function findTold(destinations: Destination[] = [], next?: string): Told | undefined {
  const told = destinations.filter((each) => describe(each) !== '');
  return told.length === 0 ? undefined : { destinations: told, ...(next !== undefined && { next }) };
}

/** Says which destinations receive nothing more of what they were notified of. */
export function ToldDialog({ told, onClose }: { told: Told; onClose: () => void }) {
  const close = () => {
    onClose();
    if (told.next !== undefined) navigate(told.next);
  };
  return (
    <Dialog title="These messages stay as they are" onClose={close}>
      <p>These destinations were notified, and receive nothing more:</p>
      <ul aria-label="Notified destinations">
        {told.destinations.map((each) => (
          <li key={each.destination_id}>
            <strong>{each.destination_id}</strong> <span class="muted mono">{each.url_masked}</span>:{' '}
            {describe(each)}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function describe(destination: Destination): string {
  const { open_alerts: alerts, stream_lost: isLost } = destination;
  const error = 'error' in destination ? destination.error : null;
  return [
    ...(alerts.length > 0 ? [pluralize(alerts.length, 'open alert')] : []),
    ...(isLost ? ['a lost stream'] : []),
    ...(error === null ? [] : [`not ended there: ${error}`]),
  ].join(', ');
}
