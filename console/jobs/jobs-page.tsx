import { useEffect, useMemo, useState } from 'preact/hooks';
import { useResource } from '../api/use-resource.ts';
import type { JobStatus, JobType, JobDetail, JobSummary } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState, Skeleton, TableHead } from '../parts/panel.tsx';
import { Field, Select } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { duration, pluralize } from '../time/format.ts';
import { PageHead } from '../shell/page-head.tsx';
import { Badge } from '../parts/badge.tsx';
import { When } from '../time/when.tsx';
import { routeUrls } from '../shell/routes.ts';
import { percent, skippedShare, jobTitle, typeLabel, isActive } from './job-labels.ts';
import { LastFrame } from '../parts/protected-picture.tsx';
import { StatusBadge } from './status-badge.tsx';
import type { Api, JobQuery } from '../api/api.ts';
import { asProblem } from '../api/problem.ts';

const pageSize = 20;
const everyMs = 3_000;

type Any<Value extends string> = Value | 'any';

const statuses: { value: Any<JobStatus>; label: string }[] = [
  { value: 'any', label: 'All' },
  { value: 'running', label: 'Running' },
  { value: 'pending', label: 'Pending' },
  { value: 'completed', label: 'Completed' },
  { value: 'stopped', label: 'Stopped' },
  { value: 'failed', label: 'Failed' },
];
const types: { value: Any<JobType>; label: string }[] = [
  { value: 'any', label: 'All' },
  { value: 'live-monitor', label: 'Monitors' },
  { value: 'live-digest', label: 'Digests' },
];

/** Shows the list of jobs with its filters and pages. */
export function JobsPage() {
  const { api, service } = useSession();
  const [status, setStatus] = useState<Any<JobStatus>>('any');
  const [type, setType] = useState<Any<JobType>>('any');
  const [offset, setOffset] = useState(0);
  const load = useMemo(() => createJobLoader(api), [api]);
  const query = {
    ...(status === 'any' ? {} : { status }),
    ...(type === 'any' ? {} : { job_type: type }),
    limit: pageSize,
    offset,
  };
  const { value, problem, reload } = useResource(
    (signal) => load(query, signal),
    [status, type, offset],
    everyMs,
  );
  const total = value?.total ?? 0;
  // Jobs expire some time after their end, so the last page can disappear.
  useEffect(() => {
    if (total > 0 && offset >= total) setOffset(Math.floor((total - 1) / pageSize) * pageSize);
  }, [total, offset]);
  const fromStart =
    <Value,>(set: (chosen: Value) => void) =>
    (chosen: Value) => {
      setOffset(0);
      set(chosen);
    };
  return (
    <>
      <PageHead
        title="Jobs"
        lead={`Active jobs, and jobs that ended less than ${duration(service.limits.retention_seconds)} ago.`}
        aside={
          <a class="button primary" href="#/try">
            New job
          </a>
        }
      />
      <section class="panel flush" aria-label="Jobs">
        <div class="row filters">
          <Field label="Status">
            {(ids) => <Select {...ids} value={status} onValue={fromStart(setStatus)} options={statuses} />}
          </Field>
          <Field label="Type">
            {(ids) => <Select {...ids} value={type} onValue={fromStart(setType)} options={types} />}
          </Field>
          {value && (
            <p class="small muted count" role="status">
              {pluralize(value.total, 'job')}
            </p>
          )}
        </div>
        {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
        {!value && !problem && <Skeleton rows={5} />}
        {value?.total === 0 && <NoJobs filtered={status !== 'any' || type !== 'any'} />}
        {value && value.rows.length > 0 && <JobTable rows={value.rows} />}
        {value && value.total > pageSize && (
          <Pages offset={offset} total={value.total} onOffset={setOffset} />
        )}
      </section>
    </>
  );
}

function NoJobs({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <EmptyState icon="jobs" title="No job matches these filters" />
  ) : (
    <EmptyState icon="jobs" title="No jobs">
      <p class="muted">Check a stream once, then start a job.</p>
      <a class="button" href="#/try">
        Try a stream
      </a>
    </EmptyState>
  );
}

type PagesProps = { offset: number; total: number; onOffset: (offset: number) => void };

function Pages({ offset, total, onOffset }: PagesProps) {
  return (
    <nav class="row pages" aria-label="Pages of jobs">
      <Button small disabled={offset === 0} onClick={() => onOffset(Math.max(0, offset - pageSize))}>
        Newer
      </Button>
      <span class="small muted">
        {offset + 1}–{Math.min(offset + pageSize, total)} of {total}
      </span>
      <Button small disabled={offset + pageSize >= total} onClick={() => onOffset(offset + pageSize)}>
        Older
      </Button>
    </nav>
  );
}

/** Shows jobs as rows on a wide screen and as cards on a phone. */
function JobTable({ rows }: { rows: JobRow[] }) {
  return (
    <table class="table cards">
      <TableHead
        columns={['Job', 'Status', 'Checks', 'Alerts', 'Skipped', 'Coverage', 'Created']}
        numbers={['Checks', 'Alerts', 'Skipped', 'Coverage', 'Created']}
      />
      <tbody>
        {rows.map((row) => (
          <Row key={row.job.job_id} {...row} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ job, detail }: JobRow) {
  const stats = detail?.stats;
  const failed = stats?.webhook?.failed ?? 0;
  const ofDigest = job.job_type === 'live-digest';
  const findings = stats && (ofDigest ? stats.windows_summarized : stats.triggers_fired);
  return (
    <tr>
      <th scope="row">
        <a class="job-link" href={routeUrls.job(job.job_id)}>
          <LastFrame path={`/jobs/${job.job_id}/frame`} at={stats?.last_frame_at ?? null} alt="" />
          <span>
            <strong>{jobTitle(job)}</strong>
            <span class="small muted one-line">
              {typeLabel(job.job_type)} · {job.stream_url}
            </span>
          </span>
        </a>
      </th>
      <td data-label="Status">
        <StatusBadge status={detail?.status ?? job.status} reason={stats?.reason} />
        {failed > 0 && <Badge tone="bad">{pluralize(failed, 'failed delivery', 'failed deliveries')}</Badge>}
      </td>
      <td class="number" data-label="Checks">
        {stats?.checks_performed ?? '–'}
      </td>
      <td class="number" data-label={ofDigest ? 'Summaries' : 'Alerts'}>
        <span class={findings && !ofDigest ? 'fired' : ''}>{findings ?? '–'}</span>
        {ofDigest && findings !== undefined && (
          <div class="small muted desk-only">{findings === 1 ? 'summary' : 'summaries'}</div>
        )}
      </td>
      <td class="number" data-label="Skipped">
        {(stats && skippedShare(stats)) ?? '–'}
      </td>
      <td class="number" data-label="Coverage">
        {stats?.started_at ? percent(stats.coverage.ratio) : '–'}
      </td>
      <td class="number muted" data-label="Created">
        <When at={job.created_at} />
      </td>
    </tr>
  );
}

/** Job with its detail; `detail` is undefined if the job expired in between. */
type JobRow = { job: JobSummary; detail: JobDetail | undefined };
/** Page of jobs; `total` counts the jobs of all pages. */
type JobRows = { rows: JobRow[]; total: number };

/**
 * Creates a loader of job pages with statistics. The list has none, so the loader reads each job; ended jobs are read
 * once, because their statistics are final.
 */
function createJobLoader(api: Api) {
  const ended = new Map<string, JobDetail>();

  const readDetail = async (job: JobSummary, signal: AbortSignal): Promise<JobDetail | undefined> => {
    const lastState = ended.get(job.job_id);
    if (lastState) return lastState;
    try {
      const detail = await api.job(job.job_id, signal);
      if (!isActive(detail.status)) ended.set(job.job_id, detail);
      return detail;
    } catch (error) {
      // The job expired after the list was read.
      if (asProblem(error).status === 404) return undefined;
      throw error;
    }
  };

  return async (query: JobQuery, signal: AbortSignal): Promise<JobRows> => {
    const { jobs, total } = await api.jobs(query, signal);
    const details = await Promise.all(jobs.map((job) => readDetail(job, signal)));
    return { rows: jobs.map((job, index) => ({ job, detail: details[index] })), total };
  };
}
