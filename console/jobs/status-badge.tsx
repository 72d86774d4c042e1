import type { JobStatus } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { reasonLabel, statusTones } from './job-labels.ts';

export function StatusBadge({ status, reason }: { status: JobStatus; reason?: string | undefined }) {
  return (
    <span class="row">
      <Badge tone={statusTones[status]} dot={status === 'running'}>
        {status}
      </Badge>
      {reason !== undefined && <span class="small muted">{reasonLabel(reason)}</span>}
    </span>
  );
}
