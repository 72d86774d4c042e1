import { useState } from 'preact/hooks';
import type { AlertEvent } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { exactTime } from '../time/format.ts';

/** Shows an alert with its evidence, which opens enlarged. */
export function Evidence({ event: { data } }: { event: AlertEvent }) {
  const [open, setOpen] = useState(false);
  const boxes = data.boxes ?? [];
  const path = `/jobs/${data.job_id}/media/${data.sequence}${boxes.length === 0 ? '' : '?boxes=true'}`;
  return (
    <div class="evidence">
      <button type="button" class="evidence-open" onClick={() => setOpen(true)}>
        <ProtectedPicture path={path} alt="Evidence frame" />
        <span class="visually-hidden">Open the evidence</span>
      </button>
      <div>
        <Badge tone="alert" dot>
          Alert
        </Badge>
        <p>{data.explanation}</p>
      </div>
      {open && (
        <Dialog title="Evidence" wide onClose={() => setOpen(false)}>
          <ProtectedPicture path={path} alt={`Evidence: ${data.explanation}`} />
          <p class="quoted">“{data.condition}”</p>
          <p>{data.explanation}</p>
          {boxes.length > 0 && (
            <p class="small">
              Boxes: {boxes.map(({ label, score }) => `${label} ${score.toFixed(2)}`).join(', ')}
            </p>
          )}
          <p class="small muted">Captured {exactTime(data.captured_at)}</p>
        </Dialog>
      )}
    </div>
  );
}
