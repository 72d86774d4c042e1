import type { WatchStatus } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { watchStatusLabel, watchTones } from './watch-labels.ts';

export function WatchBadge({ status }: { status: WatchStatus }) {
  return (
    <Badge tone={watchTones[status]} dot={status === 'active'}>
      {watchStatusLabel(status)}
    </Badge>
  );
}
