import type { ComponentProps } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useResource } from '../api/use-resource.ts';
import type { Watch, WatchStats } from '../api/types.ts';
import { AlertList } from '../alerts/alert-list.tsx';
import { Button } from '../parts/button.tsx';
import { Deliveries } from '../parts/deliveries.tsx';
import { ConfigPanel, EmptyState, Panel, Stat, Stats, Skeleton, TableHead } from '../parts/panel.tsx';
import { LastFrame } from '../parts/protected-picture.tsx';
import { ProblemNote, WarningNote } from '../parts/problem-note.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { routeUrls } from '../shell/routes.ts';
import { Clock, When } from '../time/when.tsx';
import { Conditions } from './conditions.tsx';
import { TimeLine } from '../timeline/time-line.tsx';
import { EditWatch } from './edit-watch.tsx';
import { whyNoneHidden } from './region-text.ts';
import { findTold, ToldDialog, type Told } from './told-dialog.tsx';
import { WatchActions } from './watch-actions.tsx';
import { WatchBadge } from './watch-badge.tsx';
import { countOpen, findCause, findTrouble, scheduleText } from './watch-labels.ts';
import { WatchProgress } from './watch-progress.tsx';
import { duration, pluralize } from '../time/format.ts';
import { percent } from '../jobs/job-labels.ts';

const everyMs = 3_000;
const statsEveryMs = 15_000;
const weekMs = 7 * 86_400_000;

/** Shows one watch: state, alerts, statistics and recent checks. */
export function WatchPage({ watchId }: { watchId: string }) {
  const session = useSession();
  const { api } = session;
  const {
    value: watch,
    problem,
    reload,
  } = useResource((signal) => api.watch(watchId, signal), [watchId], everyMs);
  const stats = useResource(
    (signal) => api.watchStats(watchId, { from: new Date(Date.now() - weekMs).toISOString() }, signal),
    [watchId],
    statsEveryMs,
  );
  const open = watch && countOpen(watch);
  // Shows an opening or closing in the statistics without waiting for their next load.
  useEffect(() => stats.reload(), [open]);
  const [told, setTold] = useState<Told>();
  const [hides, setHides] = useState(false);
  const note = told && <ToldDialog told={told} onClose={() => setTold(undefined)} />;
  if (problem?.status === 404 || problem?.status === 422) return note ?? <Absent />;
  if (!watch) return problem ? <ProblemNote problem={problem} onRetry={reload} /> : <Skeleton rows={8} />;
  const noneHidden = whyNoneHidden(watch.regions);
  const changed = () => {
    reload();
    stats.reload();
  };
  return (
    <>
      {note}
      {hides && (
        <EditWatch
          watch={watch}
          hides
          onDone={({ former_destinations: former }) => {
            setTold(findTold(former));
            setHides(false);
            changed();
          }}
          onClose={() => setHides(false)}
        />
      )}
      <Head watch={watch} onChange={changed} onTold={setTold} />
      <Causes watch={watch} />
      {stats.problem && stats.problem.status !== 0 && (
        <ProblemNote problem={stats.problem} onRetry={stats.reload} />
      )}
      {stats.value && <WatchFacts watch={watch} stats={stats.value} />}
      <div class="columns main-first">
        <div class="stack gap-5">
          <Conditions watch={watch} stats={stats.value} onChange={changed} />
          <Panel title="Time line">
            <TimeLine watches={[watch]} />
          </Panel>
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
        <div class="stack gap-5">
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
            {mayUse(session, 'jobs') && (
              <Button small disabled={noneHidden !== undefined} onClick={() => setHides(true)}>
                Hide a part of the picture
              </Button>
            )}
            {mayUse(session, 'jobs') && noneHidden && <p class="small muted">{noneHidden}</p>}
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

function Head({ watch, ...actions }: ComponentProps<typeof WatchActions>) {
  const session = useSession();
  return (
    <div class="page-head">
      <div>
        <p class="small">
          <a href={routeUrls.watches}>Watches</a> <span class="muted">/ Watch</span>{' '}
          <span class="mono muted">{watch.watch_id.slice(0, 8)}</span>
        </p>
        <h1>{watch.name}</h1>
        <p class="lead mono anywhere">{watch.stream_url}</p>
      </div>
      <div class="row">
        <WatchBadge status={watch.status} />
        {mayUse(session, 'jobs') && <WatchActions watch={watch} {...actions} />}
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

/** Returns the configuration of a watch as pairs of name and text. */
function watchConfigLabels(watch: Watch): [string, string][] {
  return [
    ['Interval', duration(watch.interval_seconds)],
    ['Second look', `after ${duration(watch.confirm_seconds)}`],
    ['Input', watch.input_mode],
    ['Motion pre-filter', watch.enable_prefilter ? 'on' : 'off'],
    ['Between checks', watch.look_back ? (watch.follow ? 'scanned and followed' : 'scanned') : 'not scanned'],
    ['Schedule', scheduleText(watch.schedule)],
    ['Budget of a day', budgetText(watch.budget)],
    ['Destinations', destinationsText(watch.destinations)],
    ['Regions', regionsText(watch.regions)],
    ['Retention', pluralize(watch.retention_days, 'day')],
    ...(watch.labels.length > 0 ? [['Labels', watch.labels.join(', ')] satisfies [string, string]] : []),
  ];
}

function budgetText(budget: Watch['budget']): string {
  if (!budget) return 'no limit';
  const { model_calls_per_day: calls, usd_per_day: usd } = budget;
  const limits = [
    ...(calls === null ? [] : [pluralize(calls, 'model call')]),
    ...(usd === null ? [] : [`$${usd}`]),
  ];
  return limits.join(', ');
}

function regionsText(regions: Watch['regions']): string {
  if (!regions) return 'the whole frame';
  const count = (mode: 'include' | 'exclude') => regions.filter((region) => region.mode === mode).length;
  return `${count('include')} watched, ${count('exclude')} hidden`;
}

function destinationsText(destinations: Watch['destinations']): string {
  if (destinations.length === 0) return 'none';
  return destinations.map(({ type, url_masked: url }) => `${type} ${url}`).join(', ');
}

type Counters = WatchStats['total'];

/** Shows the statistics of the last seven days. */
function WatchFacts({ watch, stats: { total } }: { watch: Watch; stats: WatchStats }) {
  const open = countOpen(watch);
  const captures = total.checks + total.skipped;
  const { budget } = watch.state;
  return (
    <>
      <Stats>
        <Stat
          label="Open alerts"
          value={<span class={open > 0 ? 'fired' : ''}>{open}</span>}
          note={`${total.alerts_opened} opened in 7 days`}
        />
        <Stat
          label="Checks"
          value={total.checks.toLocaleString()}
          note={total.not_judged > 0 ? `${total.not_judged} verdicts not judged` : '7 days'}
        />
        <Stat
          label="Skipped"
          value={captures === 0 ? '–' : percent(total.skipped / captures)}
          note={`${total.skipped} of ${captures} captures`}
        />
        <Stat label="Coverage" value={coverageText(total)} note="7 days" />
        <Stat
          label="Cost"
          value={dollars(total.usd)}
          note={
            budget
              ? `Today: ${budget.model_calls} calls, ${dollars(budget.usd)}`
              : `${total.model_calls} model calls`
          }
        />
      </Stats>
    </>
  );
}

function WatchDays({ stats: { days } }: { stats: WatchStats }) {
  return (
    <Panel title="Days" aside="UTC">
      {days.length === 0 ? (
        <p class="muted">No checks in the last seven days.</p>
      ) : (
        <table class="table watch-days">
          <TableHead
            columns={['Day', 'Checks', 'Alerts', 'Coverage', 'Cost']}
            numbers={['Checks', 'Alerts', 'Coverage', 'Cost']}
          />
          <tbody>
            {days.toReversed().map((day) => (
              <tr key={day.day}>
                <th scope="row">{day.day.slice(5)}</th>
                <td class="number">{day.checks}</td>
                <td class="number">{day.alerts_opened}</td>
                <td class="number">{coverageText(day)}</td>
                <td class="number">{dollars(day.usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function coverageText({ coverage }: Counters): string {
  return coverage === null ? '–' : percent(coverage);
}

function dollars(usd: number | null): string {
  if (usd === null) return 'unknown';
  return `$${usd.toFixed(usd > 0 && usd < 1 ? 4 : 2)}`;
}
