import type { Api } from '../api/api.ts';
import type { ChangedWatch, Watch } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { pluralize } from '../time/format.ts';
import { useSession } from '../session/session.ts';

/** Openings of open alerts that new destinations were not told of. */
export type Unsent = { watchId: string; destinations: string[]; sequences: number[] };

/** Returns the openings of open alerts that destinations of a change missed; undefined without any. */
export async function findUnsent(before: Watch, after: ChangedWatch, api: Api): Promise<Unsent | undefined> {
  const { watch_id: watchId } = after;
  const idsBefore = new Set(before.destinations.map(({ destination_id: id }) => id));
  const destinations = after.destinations
    .filter(({ destination_id: id, type }) => !idsBefore.has(id) && type !== 'heartbeat')
    .map(({ destination_id: id }) => id);
  if (destinations.length === 0) return undefined;
  const { alerts } = await api.alerts({ watch_id: watchId, state: 'open', limit: 100 });
  const open = new Set(alerts.map(({ alert_id: id }) => id));
  const sequences: number[] = [];
  for (let from = 0, hasMore = open.size > 0; hasMore;) {
    const page = await api.watchEvents(watchId, from, undefined, 'alert_opened');
    for (const event of page.events)
      if (event.type === 'alert_opened' && open.has(event.data.alert_id)) sequences.push(event.data.sequence);
    from = page.next_after;
    hasMore = page.has_more;
  }
  return sequences.length === 0 ? undefined : { watchId, destinations, sequences };
}

/** Offers to send the open alerts to destinations that were added meanwhile. */
export function SendOpen({
  unsent: { watchId, destinations, sequences },
  onClose,
}: {
  unsent: Unsent;
  onClose: () => void;
}) {
  const { api } = useSession();
  const sending = useAction(async () => {
    for (const id of destinations)
      for (const sequence of sequences) await api.resendToDestination(watchId, sequence, id);
    onClose();
  });
  return (
    <Dialog title={`Send ${pluralize(sequences.length, 'open alert')} now?`} onClose={onClose}>
      <p>
        {destinations.join(', ')} {destinations.length === 1 ? 'was' : 'were'} added after the opening, and
        otherwise hear only of what happens from now on.
      </p>
      <DialogActions action={sending} onClose={onClose} onRun={sending.run} cancel="Not now">
        Send now
      </DialogActions>
    </Dialog>
  );
}
