import { useEffect, useMemo, useState } from 'preact/hooks';
import { useResource } from '../api/use-resource.ts';
import type { JobStatus, JobType } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { pluralize } from '../parts/pluralize.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Field, Select } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { useSession } from '../session/session.ts';
import { duration } from '../time/format.ts';
import { PageHead } from '../shell/page-head.tsx';
import { JobTable } from './job-table.tsx';
import { createJobLoader } from './load-jobs.ts';

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
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      setOffset(0);
      set(value);
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
        <div class="filters">
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
    <nav class="pages" aria-label="Pages of jobs">
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
