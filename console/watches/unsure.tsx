import { useState } from 'preact/hooks';
import type { Api } from '../api/api.ts';
import type { Moment, Watch, WatchCondition, WatchStats } from '../api/types.ts';
import { useResource } from '../api/use-resource.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Skeleton } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { MomentCard } from '../search/moment-card.tsx';
import { useSession } from '../session/session.ts';
import { isPerhaps } from '../walk/score.ts';

type Props = { watch: Watch; condition: WatchCondition };

/** Counts what the model was not sure of today, with the remedy, and shows its pictures. */
export function Unsure({ watch, condition, stats }: Props & { stats: WatchStats | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const count = stats?.days.find(({ day }) => day === today())?.unsure_sightings[condition.condition_id] ?? 0;
  if (count === 0) return null;
  const remedy = condition.sensitivity === 'high' ? 'aim lower' : 'try sensitivity high, or aim lower';
  return (
    <p class="small">
      <Button small onClick={() => setOpen(true)}>
        {count} unsure {count === 1 ? 'sighting' : 'sightings'} today
      </Button>{' '}
      If they are right, {remedy}.
      {isOpen && <Sightings watch={watch} condition={condition} onClose={() => setOpen(false)} />}
    </p>
  );
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function Sightings({ watch, condition, onClose }: Props & { onClose: () => void }) {
  const { api } = useSession();
  const { condition_id: id } = condition;
  const { value, problem, reload } = useResource(
    (signal) => readUnsure(api, watch.watch_id, id, signal),
    [watch.watch_id, id],
  );
  return (
    <Dialog title="Unsure sightings of today" wide onClose={onClose}>
      <p class="quoted">“{condition.condition}”</p>
      {!value && !problem && <Skeleton rows={4} />}
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {value?.length === 0 && <p>None of their pictures is kept: see “Memory (days)” of the watch.</p>}
      <ul class="watch-board" aria-label="Unsure sightings">
        {value?.map((moment) => (
          <MomentCard key={moment.moment_id} moment={moment} watches={[watch]}>
            <p class="small">
              {moment.verdicts.find(({ condition_id: judged }) => judged === id)?.explanation}
            </p>
          </MomentCard>
        ))}
      </ul>
    </Dialog>
  );
}

/** Pages of the moments of a day that are searched. */
const maxPages = 10;

/** Reads the newest moments of today in which the model was not sure of a condition. */
async function readUnsure(api: Api, watchId: string, id: string, signal: AbortSignal): Promise<Moment[]> {
  const span = { from: `${today()}T00:00:00Z`, to: new Date().toISOString() };
  const unsure: Moment[] = [];
  let after: string | null | undefined;
  for (let page = 0; page < maxPages && after !== null; page += 1) {
    const query = { watch_id: watchId, condition_id: id, ...span, after, limit: 100 };
    const read = await api.moments(query, signal);
    unsure.push(...read.moments.filter((moment) => isUnsure(moment, id)));
    after = read.next_after;
  }
  return unsure;
}

function isUnsure({ verdicts }: Moment, id: string): boolean {
  return verdicts.some(
    ({ condition_id: judged, triggered, explanation }) =>
      judged === id && (triggered === null || isPerhaps({ triggered, explanation })),
  );
}
