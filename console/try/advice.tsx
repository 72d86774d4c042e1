import type { Advice, InputMode } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { useAdvice } from './use-advice.ts';

type Spans = NonNullable<Advice['suggestion']['active']>;

type Props = {
  condition: string;
  /** Mode of the form; absent if the form has none. */
  mode?: InputMode;
  onCondition: (condition: string) => void;
  onMode?: (mode: InputMode) => void;
  /** Absent if the form has no schedule. */
  onSchedule?: (spans: Spans) => void;
};

const modeNames = { frames: 'frames', clip: 'a clip', hybrid: 'frame and clip' };

/** Shows what is doubtful about a condition, with buttons that take over a clearer wording or a better mode. */
export function ConditionAdvice({ condition, mode, onCondition, onMode, onSchedule }: Props) {
  const advice = useAdvice(condition);
  const { findings = [], suggestion } = advice ?? {};
  const [wording, ...others] = suggestion?.conditions ?? [];
  const clearer = others.length === 0 && wording !== condition.trim() ? wording : undefined;
  const spans = suggestion?.active ?? undefined;
  const better = mode === undefined || suggestion?.input_mode === mode ? undefined : suggestion?.input_mode;
  return (
    <div class="advice" role="status" aria-label="Advice on the condition">
      <Findings findings={findings} />
      {findings.length > 0 &&
        (clearer !== undefined || (better !== undefined && onMode) || (spans && onSchedule)) && (
          <div class="suggestions">
            {clearer !== undefined && (
              <Button small onClick={() => onCondition(clearer)}>
                Use “{clearer}”
              </Button>
            )}
            {better !== undefined && onMode && (
              <Button small onClick={() => onMode(better)}>
                Use {modeNames[better]}
              </Button>
            )}
            {spans && onSchedule && (
              <Button small onClick={() => onSchedule(spans)}>
                Use the schedule {spans.map(({ from, to }) => `${from}–${to}`).join(', ')}
              </Button>
            )}
          </div>
        )}
    </div>
  );
}

/** Lists doubts about a condition. */
export function Findings({ findings }: Pick<Advice, 'findings'>) {
  if (findings.length === 0) return null;
  return (
    <ul class="small">
      {findings.map(({ message }) => (
        <li key={message}>{message}</li>
      ))}
    </ul>
  );
}
