import type { InputMode } from '../api/types.ts';
import { milliseconds } from '../time/format.ts';
import { useNow } from '../time/use-now.ts';
import { Button } from '../parts/button.tsx';

type Props = { since: number; typicalMs: number; mode: InputMode; onStop: () => void };

const doing = {
  frames: 'Taking a frame and asking the model',
  clip: 'Taking a clip and asking the model',
  hybrid: 'Taking a frame and a clip and asking the model',
};

/** While a look is under way: how long it has taken, against how long it takes as a rule. */
export function Looking({ since, typicalMs, mode, onStop }: Props) {
  const elapsed = Math.max(0, useNow(100) - since);
  // It never arrives by itself: the bar slows down towards its end when a look takes longer than usual.
  const share = 1 - Math.exp((-1.6 * elapsed) / typicalMs);
  return (
    <div class="looking">
      <div class="looking-frame">
        <span class="scan" aria-hidden="true" />
      </div>
      <p role="status">{doing[mode]}…</p>
      <progress max={1} value={share} aria-label="Progress of the look" />
      <p class="small muted">
        <span class="number">{(elapsed / 1000).toFixed(1)} s</span> · usually about {milliseconds(typicalMs)}
      </p>
      <Button small onClick={onStop}>
        Stop
      </Button>
    </div>
  );
}
