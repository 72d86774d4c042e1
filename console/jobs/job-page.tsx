import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import { useResource } from '../api/use-resource.ts';
import type { JobDetail, JobEvent } from '../api/types.ts';
import { ConfigPanel, EmptyState, Panel, Stat, Stats, Skeleton } from '../parts/panel.tsx';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { ProblemNote, WarningNote } from '../parts/problem-note.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { navigate, routeUrls } from '../shell/routes.ts';
import { drafts, toDraft } from '../try/draft.ts';
import { Activity } from './activity.tsx';
import { Deliveries } from '../parts/deliveries.tsx';
import { configLabels, isActive, jobTitle, percent, skippedShare, typeLabel } from './job-labels.ts';
import { LastFrame } from '../parts/protected-picture.tsx';
import { StatusBadge } from './status-badge.tsx';
import { Timeline } from './timeline.tsx';
import { useJobLog } from './use-job-log.ts';
import { duration, pluralize } from '../time/format.ts';
import { Clock, When } from '../time/when.tsx';

const everyMs = 5_000;

/** Shows one job and follows its events. */
export function JobPage({ jobId }: { jobId: string }) {
  const { api } = useSession();
  const log = useJobLog(jobId);
  const [active, setActive] = useState(true);
  const {
    value: job,
    problem,
    reload,
  } = useResource((signal) => api.job(jobId, signal), [jobId], active ? everyMs : undefined);
  const newest = log.events.at(-1)?.data.sequence ?? 0;
  // Reloads the statistics after each event.
  useEffect(() => {
    if (newest > 0) reload();
  }, [newest]);
  useEffect(() => setActive(!job || isActive(job.status)), [job?.status]);

  if (!job) return <Absent problem={problem} onRetry={reload} />;
  return (
    <>
      <Head job={job} onChange={reload} />
      <Announcements events={log.events} before={log.before} />
      {job.stats.error && (
        <ProblemNote problem={{ ...job.stats.error, remedy: job.stats.error.remediation }} />
      )}
      <FailedDeliveries job={job} />
      {(job.stats.notices ?? []).map((notice) => (
        <WarningNote key={notice}>{notice}</WarningNote>
      ))}
      <JobFacts job={job} />
      <div class="columns main-first">
        <div class="stack gap-5">
          <Activity events={log.events} job={job} />
          <Timeline log={log} />
        </div>
        <div class="stack gap-5">
          <Panel
            title="Latest frame"
            aside={job.stats.last_frame_at && <Clock at={job.stats.last_frame_at} />}
          >
            <LastFrame
              path={`/jobs/${jobId}/frame`}
              at={job.stats.last_frame_at}
              alt="Newest frame of the stream"
            />
          </Panel>
          {job.stats.webhook && (
            <Deliveries
              id={jobId}
              active={active}
              load={(after, signal) => api.deliveries(jobId, after, signal)}
              resend={({ sequence }) => api.resend(jobId, sequence)}
            />
          )}
          <ConfigPanel idName="Job id" id={job.job_id} labels={configLabels(job.config)} />
        </div>
      </div>
    </>
  );
}

/** Warns that receivers missed events: the panel with the attempts is far below. */
function FailedDeliveries({ job }: { job: JobDetail }) {
  const failures = job.stats.webhook?.failed ?? 0;
  const last = job.stats.webhook?.failures.at(-1);
  if (failures === 0) return null;
  return (
    <WarningNote>
      <strong>{pluralize(failures, 'delivery', 'deliveries')} failed.</strong> {last?.error} See Deliveries
      below.
    </WarningNote>
  );
}

function Head({ job, onChange }: { job: JobDetail; onChange: () => void }) {
  const session = useSession();
  const { api, service } = session;
  const [confirming, setConfirming] = useState(false);
  return (
    <div class="page-head">
      <div>
        <p class="small">
          <a href={routeUrls.jobs}>Jobs</a> <span class="muted">/ {typeLabel(job.job_type)}</span>{' '}
          <span class="mono muted">{job.job_id.slice(0, 8)}</span>
        </p>
        <h1>{jobTitle(job)}</h1>
        <p class="lead mono anywhere">{job.stream_url}</p>
      </div>
      <div class="row gap-3">
        <StatusBadge status={job.status} reason={job.stats.reason} />
        {!isActive(job.status) && mayUse(session, 'jobs') && <RunAgain job={job} />}
        {isActive(job.status) && mayUse(session, 'jobs') && (
          <Button kind="danger" onClick={() => setConfirming(true)}>
            Cancel job
          </Button>
        )}
      </div>
      {confirming && (
        <ConfirmDialog
          title="Cancel this job?"
          confirm="Cancel job"
          decline="Keep job"
          act={() => api.cancelJob(job.job_id)}
          onDone={() => {
            setConfirming(false);
            onChange();
          }}
          onClose={() => setConfirming(false)}
        >
          <p>
            Monitoring stops immediately. Results stay readable for{' '}
            {duration(service.limits.retention_seconds)}
            {job.job_type === 'live-digest'
              ? '. The service first summarizes the open window, which may take some seconds'
              : ''}
            .
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}

/** Starts the same job again, or opens its settings in the form. */
function RunAgain({ job }: { job: JobDetail }) {
  const session = useSession();
  const starting = useAction(async () => {
    const { job_id: jobId } = await session.api.runAgain(job.job_id);
    navigate(routeUrls.job(jobId));
  });
  const duplicate = () => {
    drafts.set(session, toDraft(job));
    navigate(routeUrls.look);
  };
  return (
    <>
      <Button onClick={duplicate}>Duplicate</Button>
      <Button kind="primary" busy={starting.busy} onClick={() => void starting.run()}>
        Run again
      </Button>
      {starting.problem && <ProblemNote problem={starting.problem} />}
    </>
  );
}

type AbsentProps = { problem: ReturnType<typeof useResource>['problem']; onRetry: () => void };

function Absent({ problem, onRetry }: AbsentProps) {
  const { limits } = useSession().service;
  if (!problem) return <Skeleton rows={8} />;
  if (problem.status !== 404 && problem.status !== 422)
    return <ProblemNote problem={problem} onRetry={onRetry} />;
  return (
    <EmptyState icon="jobs" title="Job not found">
      <p class="muted">A job stays readable for {duration(limits.retention_seconds)} after its end.</p>
      <a class="button" href={routeUrls.jobs}>
        All jobs
      </a>
    </EmptyState>
  );
}

/** Announces alerts to a screen reader. Events up to sequence `before` are older than the page and stay silent. */
function Announcements({ events, before }: { events: JobEvent[]; before: number }) {
  const news = events.filter((event) => event.data.sequence > before).flatMap(words);
  return (
    <div class="visually-hidden" aria-live="assertive">
      {news.at(-1)}
    </div>
  );
}

function words(event: JobEvent): string[] {
  if (event.type === 'watch_triggered') return [`Alert: ${event.data.explanation}`];
  if (event.type === 'summary_generated') return [`Summary of window ${event.data.window_index}`];
  return event.type === 'job_stopped' ? [`The job ended: ${event.data.status}`] : [];
}

function JobFacts({ job: { stats, status, job_type: type } }: { job: JobDetail }) {
  const tokens = stats.input_tokens + stats.output_tokens;
  return (
    <Stats>
      {type === 'live-monitor' ? (
        <Stat
          label="Alerts"
          value={<span class={stats.triggers_fired > 0 ? 'fired' : ''}>{stats.triggers_fired}</span>}
        />
      ) : (
        <Stat label="Summaries" value={stats.windows_summarized ?? 0} />
      )}
      <Stat
        label="Checks"
        value={stats.checks_performed}
        note={stats.checks_missed > 0 ? `${stats.checks_missed} failed` : undefined}
      />
      <Stat
        label="Skipped"
        value={skippedShare(stats) ?? '–'}
        note={`${stats.frames_skipped} of ${stats.frames_captured + stats.frames_skipped} frames`}
      />
      <Stat
        label="Coverage"
        value={stats.started_at === null ? '–' : percent(stats.coverage.ratio)}
        note={stats.coverage.gap_seconds >= 1 ? `${duration(stats.coverage.gap_seconds)} of gaps` : 'No gap'}
      />
      <Stat label="Watched" value={duration(stats.watch_duration_seconds)} note={findNext(status, stats)} />
      {tokens > 0 && <Stat label="Tokens" value={tokens.toLocaleString()} />}
    </Stats>
  );
}

function findNext(status: JobDetail['status'], stats: JobDetail['stats']) {
  if (!isActive(status))
    return (
      stats.ended_at !== null && (
        <>
          Ended <When at={stats.ended_at} />
        </>
      )
    );
  if (stats.next_check_at === null) return undefined;
  return (
    <>
      Next check <When at={stats.next_check_at} />
    </>
  );
}
