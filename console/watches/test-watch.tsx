import { useEffect, useState } from 'preact/hooks';
import type { WatchTest } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Badge } from '../parts/badge.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { useSession } from '../session/session.ts';
import { milliseconds } from '../time/format.ts';

/** Sends a test alert to all destinations of a watch and shows what each answered. */
export function TestWatch({ watchId, onClose }: { watchId: string; onClose: () => void }) {
  const { api } = useSession();
  const [result, setResult] = useState<WatchTest>();
  const testing = useAction(async () => setResult(await api.testWatch(watchId)));
  useEffect(() => void testing.run(), [watchId]);
  return (
    <Dialog title="Test destinations" onClose={onClose}>
      {testing.busy && <Skeleton rows={3} />}
      {testing.problem && <ProblemNote problem={testing.problem} onRetry={() => void testing.run()} />}
      {result?.destinations.length === 0 && <p>This watch has no destinations. Add some with “Edit”.</p>}
      {result && (
        <ul class="condition-list" aria-label="Results">
          {result.destinations.map(({ destination_id: id, type, error, latency_ms: latency }) => (
            <li key={id}>
              <div class="condition-head">
                <strong>
                  {id} <span class="muted">{type}</span>
                </strong>
                <Badge tone={error === null ? 'good' : 'alert'}>
                  {error === null ? `accepted in ${milliseconds(latency)}` : 'failed'}
                </Badge>
              </div>
              {error !== null && <p>{error}</p>}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
