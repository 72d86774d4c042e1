import { Findings } from '../try/advice.tsx';
import type { Boxes, WatchPreview } from '../api/types.ts';
import { useResource } from '../api/use-resource.ts';
import { useBlobAddress } from '../api/use-blob-address.ts';
import { Badge } from '../parts/badge.tsx';
import { BoxedPicture } from '../parts/boxed-picture.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { useSession } from '../session/session.ts';
import { milliseconds } from '../time/format.ts';
import { Clock } from '../time/when.tsx';

/** Checks all conditions once on a new capture and shows the verdicts. Changes no state. */
export function PreviewWatch({ watchId, onClose }: { watchId: string; onClose: () => void }) {
  const { api } = useSession();
  const { value, problem, reload } = useResource(() => api.previewWatch(watchId), [watchId]);
  const address = useBlobAddress(value?.frame_b64);
  return (
    <Dialog title="Check now" wide onClose={onClose}>
      {!value && !problem && <Skeleton rows={4} />}
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {value && (
        <>
          {address !== undefined && (
            <BoxedPicture address={address} alt="Checked frame" boxes={value.verdicts.flatMap(frameBoxes)} />
          )}
          <ul class="condition-list">
            {value.verdicts.map(
              ({ condition_id: id, condition, triggered, judged, explanation, findings }) => (
                <li key={id}>
                  <div class="condition-head">
                    <strong>{condition}</strong>
                    <Badge tone={triggered ? 'alert' : 'neutral'}>
                      {judged === false ? 'not judged' : triggered ? 'holds' : 'does not hold'}
                    </Badge>
                  </div>
                  <p>{explanation}</p>
                  <Findings findings={findings} />
                </li>
              ),
            )}
          </ul>
          <p class="small muted">
            Captured at <Clock at={value.captured_at} />, took {milliseconds(value.latency_ms)}. This check
            changes no state and sends nothing.
          </p>
        </>
      )}
    </Dialog>
  );
}

/** Returns the boxes of a verdict; none if they are of another frame of the clip. */
function frameBoxes({ boxes, shown_at_seconds: at }: WatchPreview['verdicts'][number]): Boxes {
  return at === undefined ? (boxes ?? []) : [];
}
