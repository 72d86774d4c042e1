import { useState } from 'preact/hooks';
import type { SummaryEvent } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { pluralize } from '../parts/pluralize.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { Clock } from '../time/when.tsx';

/** Shows the summary of a digest window. */
export function SummaryCard({ event: { data } }: { event: SummaryEvent }) {
  const [open, setOpen] = useState(false);
  // A log event links to the frame grid, a streamed event contains it; the card reads both from the same URL.
  const hasGrid = 'frame_grid_url' in data || ('frame_grid_b64' in data && data.frame_grid_b64 !== null);
  return (
    <article class="summary">
      <p>
        <Badge tone="accent">Window {data.window_index}</Badge>{' '}
        <span class="small muted">
          <Clock at={data.window_start} /> – <Clock at={data.window_end} />
          {data.partial ? ', partial' : ''}
        </span>
      </p>
      <p class="summary-text">{data.summary}</p>
      <p class="small muted">
        {pluralize(data.frames_captured, 'frame')}, {data.frames_skipped} skipped
        {data.gaps.length > 0 ? `, ${pluralize(data.gaps.length, 'gap')}` : ''}
      </p>
      {hasGrid && (
        <Button small onClick={() => setOpen(true)}>
          Show frames
        </Button>
      )}
      {open && (
        <Dialog title={`Frames of window ${data.window_index}`} wide onClose={() => setOpen(false)}>
          <ProtectedPicture
            path={`/jobs/${data.job_id}/media/${data.sequence}`}
            alt={`Frames of window ${data.window_index}: ${data.summary}`}
          />
        </Dialog>
      )}
    </article>
  );
}
