import type { JobDetail } from '../api/types.ts';
import { Stat, Stats } from '../parts/stat.tsx';
import { duration } from '../time/format.ts';
import { When } from '../time/when.tsx';
import { isActive, percent, skippedShare } from './job-labels.ts';

/** Shows the statistics of a job. */
export function JobFacts({ job: { stats, status, job_type: type } }: { job: JobDetail }) {
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
