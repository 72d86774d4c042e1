import { useEffect } from 'preact/hooks';
import { useResource } from '../api/use-resource.ts';
import type { Watch } from '../api/types.ts';
import { AlertList } from '../alerts/alert-list.tsx';
import { Deliveries } from '../parts/deliveries.tsx';
import { ConfigPanel } from '../parts/config-panel.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { LastFrame } from '../parts/last-frame.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote, WarningNote } from '../parts/problem-note.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { routeUrls } from '../shell/routes.ts';
import { Clock, When } from '../time/when.tsx';
import { Conditions } from './conditions.tsx';
import { Lanes } from './lanes.tsx';
import { WatchActions } from './watch-actions.tsx';
import { WatchBadge } from './watch-badge.tsx';
import { watchConfigLabels } from './watch-config-labels.ts';
import { WatchDays, WatchFacts } from './watch-facts.tsx';
import { countOpen, findCause, findTrouble } from './watch-labels.ts';
import { WatchProgress } from './watch-progress.tsx';

const everyMs = 3_000;
const statsEveryMs = 15_000;
const weekMs = 7 * 86_400_000;

/** Shows one watch: state, alerts, statistics and recent checks. */
export function WatchPage({ watchId }: { watchId: string }) {
  const { api } = useSession();
  const {
    value: watch,
    problem,
    reload,
  } = useResource((signal) => api.watch(watchId, signal), [watchId], everyMs);
  const stats = useResource(
    (signal) => api.watchStats(watchId, new Date(Date.now() - weekMs).toISOString(), signal),
    [watchId],
    statsEveryMs,
  );
  const open = watch && countOpen(watch);
  // Shows an opening or closing in the statistics without waiting for their next load.
  useEffect(() => stats.reload(), [open]);
  if (problem?.status === 404 || problem?.status === 422) return <Absent />;
  if (!watch) return problem ? <ProblemNote problem={problem} onRetry={reload} /> : <Skeleton rows={8} />;
  const changed = () => {
    reload();
    stats.reload();
  };
  return (
    <>
      <Head watch={watch} onChange={changed} />
      <Causes watch={watch} />
      {stats.problem && stats.problem.status !== 0 && (
        <ProblemNote problem={stats.problem} onRetry={stats.reload} />
      )}
      {stats.value && <WatchFacts watch={watch} stats={stats.value} />}
      <div class="job-columns">
        <div class="stack wide-gap">
          <Conditions watch={watch} stats={stats.value} onChange={changed} />
          <Lanes watch={watch} stats={stats.value} />
          <Panel title="Alerts">
            <AlertList watchId={watchId} onChange={changed} />
          </Panel>
          <WatchProgress watch={watch} />
          {watch.destinations.length > 0 && (
            <Deliveries
              id={watchId}
              active={watch.status !== 'paused'}
              load={(after, signal) => api.watchDeliveries(watchId, after, signal)}
              resend={({ sequence, destination_id: id = '' }) =>
                api.resendToDestination(watchId, sequence, id)
              }
            />
          )}
        </div>
        <div class="stack wide-gap">
          <Panel
            title="Latest frame"
            aside={watch.state.last_frame_at !== null && <Clock at={watch.state.last_frame_at} />}
          >
            <LastFrame
              path={`/watches/${watchId}/frame`}
              at={watch.state.last_frame_at}
              alt="Newest frame of the stream"
            />
            {watch.state.next_check_at !== null && (
              <p class="small muted">
                Next check <When at={watch.state.next_check_at} />
              </p>
            )}
          </Panel>
          {stats.value && <WatchDays stats={stats.value} />}
          <ConfigPanel
            idName="Watch id"
            id={watch.watch_id}
            labels={watchConfigLabels(watch)}
            aside={`Version ${watch.config_version}`}
          />
        </div>
      </div>
    </>
  );
}

function Head({ watch, onChange }: { watch: Watch; onChange: () => void }) {
  const session = useSession();
  return (
    <div class="page-head">
      <div>
        <p class="small">
          <a href={routeUrls.watches}>Watches</a> <span class="muted">/ Watch</span>{' '}
          <span class="mono muted">{watch.watch_id.slice(0, 8)}</span>
        </p>
        <h1>{watch.name}</h1>
        <p class="lead mono source">{watch.stream_url}</p>
      </div>
      <div class="page-aside watch-actions">
        <WatchBadge status={watch.status} />
        {mayUse(session, 'jobs') && <WatchActions watch={watch} onChange={onChange} />}
      </div>
    </div>
  );
}

function Causes({ watch }: { watch: Watch }) {
  const cause = findCause(watch);
  const failure = watch.state.model_failure;
  return (
    <>
      {cause && (
        <WarningNote>
          <strong>{cause.text}</strong> Since <When at={cause.since} />.
        </WarningNote>
      )}
      {findTrouble(watch).map(({ text, since }) => (
        <WarningNote key={text}>
          <strong>{text}</strong> Since <When at={since} />.
        </WarningNote>
      ))}
      {failure && <ProblemNote problem={{ ...failure, remedy: failure.remediation }} />}
    </>
  );
}

function Absent() {
  return (
    <EmptyState icon="camera" title="Watch not found">
      <p class="muted">It was deleted, or it belongs to another caller.</p>
      <a class="button" href={routeUrls.watches}>
        All watches
      </a>
    </EmptyState>
  );
}
