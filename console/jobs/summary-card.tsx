import { useState } from 'preact/hooks';
import type { SummaryEvent } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { counted } from '../parts/counted.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { Clock } from '../time/when.tsx';

/** What happened in a window of a digest. */
export function SummaryCard({ event: { data } }: { event: SummaryEvent }) {
  const [open, setOpen] = useState(false);
  // The log links to the grid, the event stream brings it; both are read from the same place.
  const hasGrid = data.frame_grid_url !== undefined || typeof data.frame_grid_b64 === 'string';
  return (
    <article class="summary">
      <p>
        <Badge tone="accent">Window {data.window_index}</Badge>{' '}
        <span class="small muted">
          <Clock at={data.window_start} /> – <Clock at={data.window_end} />
          {data.partial ? ', up to its early end' : ''}
        </span>
      </p>
      <p class="summary-text">{data.summary}</p>
      <p class="small muted">
        {counted(data.frames_captured, 'picture')}, {data.frames_skipped} skipped
        {data.gaps.length > 0 ? `, ${counted(data.gaps.length, 'gap')}` : ''}
      </p>
      {hasGrid && (
        <Button small onClick={() => setOpen(true)}>
          Show the pictures
        </Button>
      )}
      {open && (
        <Dialog title={`Pictures of window ${data.window_index}`} wide onClose={() => setOpen(false)}>
          <ProtectedPicture
            path={`/jobs/${data.job_id}/media/${data.sequence}`}
            alt={`Pictures of window ${data.window_index}: ${data.summary}`}
          />
        </Dialog>
      )}
    </article>
  );
}
