import { useEffect, useState } from 'preact/hooks';
import type { Advice, InputMode } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { useSession } from '../session/session.ts';

type Spans = NonNullable<Advice['suggestion']['active']>;

type Props = {
  condition: string;
  /** Mode of the form; absent if the form has none. */
  mode?: InputMode;
  /** `openAfter`: seconds for which it must have held, with the wording that leaves them out. */
  onCondition: (condition: string, openAfter: number) => void;
  /** True if the form has a time for which the condition must have held. */
  opensAfter?: boolean;
  onMode?: (mode: InputMode) => void;
  /** Absent if the form has no schedule. */
  onSchedule?: (spans: Spans) => void;
};

const modeNames = { frames: 'frames', clip: 'a clip', hybrid: 'frame and clip' };

/** Shows what is doubtful about a condition, with buttons that take over a clearer wording or a better mode. */
export function ConditionAdvice({
  condition,
  mode,
  onCondition,
  opensAfter = false,
  onMode,
  onSchedule,
}: Props) {
  const advice = useAdvice(condition);
  const { findings = [], suggestion } = advice ?? {};
  const [wording, ...others] = suggestion?.conditions ?? [];
  const clearer = others.length === 0 && wording !== condition.trim() ? wording : undefined;
  const openAfter = opensAfter ? (suggestion?.open_after_seconds ?? 0) : 0;
  const spans = suggestion?.active ?? undefined;
  const better = mode === undefined || suggestion?.input_mode === mode ? undefined : suggestion?.input_mode;
  return (
    <div class="stack gap-2 advice" role="status" aria-label="Advice on the condition">
      <Findings findings={findings} />
      {findings.length > 0 &&
        (clearer !== undefined || (better !== undefined && onMode) || (spans && onSchedule)) && (
          <div class="row suggestions">
            {clearer !== undefined && (
              <Button small onClick={() => onCondition(clearer, openAfter)}>
                Use “{clearer}”{openAfter > 0 && `, alert after ${openAfter} s`}
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

/** Delay after the last keystroke, in milliseconds. */
const pauseMs = 500;

/** Interval at which the state of the pointer is read, in milliseconds. */
const releaseMs = 50;

/**
 * Resolves when nothing is pressed: advice moves what is below it, and a control that moves between press and release
 * gets no click.
 */
async function pointerReleased(): Promise<void> {
  while (document.querySelector(':active')) await new Promise((resolve) => setTimeout(resolve, releaseMs));
}

/** Returns advice on a condition after a pause of the typing. A failure gives none: advice never blocks a form. */
function useAdvice(condition: string): Advice | undefined {
  const { api } = useSession();
  const [last, setKnown] = useState<{ condition: string; advice: Advice }>();
  const text = condition.trim();
  useEffect(() => {
    if (text === '') return;
    const abort = new AbortController();
    const ask = async () => {
      const advice = await api.advise(text, abort.signal).catch(() => undefined);
      await pointerReleased();
      if (advice && !abort.signal.aborted) setKnown({ condition: text, advice });
    };
    const timer = setTimeout(() => void ask(), pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  // Advice on an older text would be misread as one on the new.
  return last?.condition === text ? last.advice : undefined;
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

/** Offers conditions that the model judges well. */
export function ConditionExamples({ onUse }: { onUse: (condition: string) => void }) {
  const { model } = useSession().service;
  return (
    <div class="row suggestions" role="group" aria-label="Examples of conditions">
      {model.condition_examples.map((example) => (
        <button type="button" key={example} class="chip" onClick={() => onUse(example)}>
          {example}
        </button>
      ))}
    </div>
  );
}
