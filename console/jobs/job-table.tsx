import { Badge } from '../parts/badge.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { pluralize } from '../parts/pluralize.ts';
import { When } from '../time/when.tsx';
import { routeUrls } from '../shell/routes.ts';
import { percent, skippedShare, jobTitle, typeLabel } from './job-labels.ts';
import { LastFrame } from '../parts/last-frame.tsx';
import type { JobRow } from './load-jobs.ts';
import { StatusBadge } from './status-badge.tsx';

/** Shows jobs as rows on a wide screen and as cards on a phone. */
export function JobTable({ rows }: { rows: JobRow[] }) {
  return (
    <table class="table cards job-table">
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
            <span class="small muted job-source">
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
          <span class="small muted desk-only">{findings === 1 ? 'summary' : 'summaries'}</span>
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
