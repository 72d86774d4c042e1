import type { InputMode } from '../api/types.ts';
import { milliseconds } from '../time/format.ts';
import { useNow } from '../time/use-now.ts';
import { Button } from '../parts/button.tsx';

type Props = { since: number; typicalMs: number; mode: InputMode; onStop: () => void };

const doing = {
  frames: 'Capturing a frame and calling the model',
  clip: 'Capturing a clip and calling the model',
  hybrid: 'Capturing a frame and a clip and calling the model',
};

/** Shows the elapsed time of a check beside the typical time, in milliseconds. */
export function CheckProgress({ since, typicalMs, mode, onStop }: Props) {
  const elapsed = Math.max(0, useNow(100) - since);
  // The bar approaches its end without reaching it, and slows down if the check takes longer than usual.
  const share = 1 - Math.exp((-1.6 * elapsed) / typicalMs);
  return (
    <div class="looking">
      <div class="looking-frame">
        <span class="scan" aria-hidden="true" />
      </div>
      <p role="status">{doing[mode]}…</p>
      <progress max={1} value={share} aria-label="Progress of the check" />
      <p class="small muted">
        <span class="number">{(elapsed / 1000).toFixed(1)} s</span> · usually about {milliseconds(typicalMs)}
      </p>
      <Button small onClick={onStop}>
        Stop
      </Button>
    </div>
  );
}
