import { useState } from 'preact/hooks';
import { useResource } from '../api/use-resource.ts';
import type { Watch, WatchStats } from '../api/types.ts';
import { percent } from '../jobs/job-labels.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { EmptyState, Skeleton } from '../parts/panel.tsx';
import { LastFrame } from '../parts/protected-picture.tsx';
import { pluralize } from '../time/format.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { routeUrls } from '../shell/routes.ts';
import { When } from '../time/when.tsx';
import {
  conditionLabel,
  conditionsWithState,
  countOpen,
  findCause,
  findTrouble,
  shareBetween,
} from './watch-labels.ts';
import { Unsure } from './unsure.tsx';
import { NewWatch } from './new-watch.tsx';
import { emptyWatchDraft } from './watch-draft.ts';
import { WatchBadge } from './watch-badge.tsx';

const everyMs = 3_000;
const statsEveryMs = 60_000;
const dayMs = 86_400_000;

/** Shows the status board: each watch with newest frame, conditions, open alerts and coverage. */
export function WatchesPage() {
  const session = useSession();
  const { api } = session;
  const [creating, setCreating] = useState(false);
  const { value: watches, problem, reload } = useResource((signal) => api.watches(signal), [], everyMs);
  return (
    <>
      <PageHead
        title="Watches"
        lead="A watch stands until you pause or delete it. Its alerts open and close."
        aside={
          mayUse(session, 'jobs') && (
            <Button kind="primary" onClick={() => setCreating(true)}>
              New watch
            </Button>
          )
        }
      />
      {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
      {!watches && !problem && <Skeleton rows={5} />}
      {watches?.length === 0 && (
        <EmptyState icon="camera" title="No watches">
          <p class="muted">
            A new watch needs a stream, what to look for, and whom to tell. <a href={routeUrls.look}>Try</a>{' '}
            shows first what the model sees.
          </p>
        </EmptyState>
      )}
      {watches && watches.length > 0 && (
        <ul class="watch-board" aria-label="Watches">
          {watches.map((watch) => (
            <WatchCard key={watch.watch_id} watch={watch} />
          ))}
        </ul>
      )}
      {creating && <NewWatch before={emptyWatchDraft} onClose={() => setCreating(false)} />}
    </>
  );
}

function WatchCard({ watch }: { watch: Watch }) {
  const { api } = useSession();
  const open = countOpen(watch);
  const cause = findCause(watch);
  const { value: stats } = useResource(
    (signal) => api.watchStats(watch.watch_id, { from: new Date(Date.now() - dayMs).toISOString() }, signal),
    [watch.watch_id],
    statsEveryMs,
  );
  return (
    <li class={open > 0 ? 'panel watch-card has-open' : 'panel watch-card'}>
      <LastFrame path={`/watches/${watch.watch_id}/frame`} at={watch.state.last_frame_at} alt="" />
      <div class="stack gap-3">
        <div class="spread titled">
          <h2>
            <a href={routeUrls.watch(watch.watch_id)}>{watch.name}</a>
          </h2>
          <WatchBadge status={watch.status} />
        </div>
        {cause && (
          <p class="small muted">
            {cause.text} Since <When at={cause.since} />.
          </p>
        )}
        {findTrouble(watch).map(({ text, since }) => (
          <p key={text} class="small muted">
            {text} Since <When at={since} />.
          </p>
        ))}
        <ul class="stack gap-2" aria-label={`Conditions of ${watch.name}`}>
          {conditionsWithState(watch).map(({ condition, state }) => {
            const shown = state && conditionLabel(state, watch.status);
            return (
              <li key={condition.condition_id}>
                <div class="spread titled">
                  <span>{condition.condition}</span>
                  {shown && <Badge tone={shown.tone}>{shown.label}</Badge>}
                </div>
                <Unsure watch={watch} condition={condition} stats={stats} />
              </li>
            );
          })}
        </ul>
        <p class="spread small muted">
          <span class={open > 0 ? 'fired' : ''}>{pluralize(open, 'open alert')}</span>
          <Coverage stats={stats} />
        </p>
      </div>
    </li>
  );
}

/** Shows the share of the last day in which the stream was there, and of what lay between two pictures. */
function Coverage({ stats }: { stats: WatchStats | undefined }) {
  const coverage = stats?.total.coverage ?? null;
  if (!stats || coverage === null) return <span>No coverage yet</span>;
  const between = shareBetween(stats.hours);
  const part = between < 0.005 ? '' : `, ${percent(between)} between pictures`;
  return <span>{`Coverage of the day ${percent(coverage)}${part}`}</span>;
}
