import type { InputMode } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { useAdvice } from './use-advice.ts';

type Props = {
  condition: string;
  /** Mode of the form; absent if the form has none. */
  mode?: InputMode;
  onCondition: (condition: string) => void;
  onMode?: (mode: InputMode) => void;
};

const modeNames = { frames: 'frames', clip: 'a clip', hybrid: 'frame and clip' };

/** Shows what is doubtful about a condition, with buttons that take over a clearer wording or a better mode. */
export function ConditionAdvice({ condition, mode, onCondition, onMode }: Props) {
  const advice = useAdvice(condition);
  const { findings = [], suggestion } = advice ?? {};
  const [wording, ...others] = suggestion?.conditions ?? [];
  const clearer = others.length === 0 && wording !== condition.trim() ? wording : undefined;
  const better = mode === undefined || suggestion?.input_mode === mode ? undefined : suggestion?.input_mode;
  return (
    <div class="advice" role="status" aria-label="Advice on the condition">
      {findings.length > 0 && (
        <ul class="small">
          {findings.map(({ code, message }) => (
            <li key={code}>{message}</li>
          ))}
        </ul>
      )}
      {findings.length > 0 && (clearer !== undefined || (better !== undefined && onMode)) && (
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
        </div>
      )}
    </div>
  );
}
