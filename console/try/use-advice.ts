import { useEffect, useState } from 'preact/hooks';
import type { Advice } from '../api/types.ts';
import { useSession } from '../session/session.ts';

/** Delay after the last keystroke, in milliseconds. */
const pauseMs = 500;

/** Interval at which the state of the pointer is read, in milliseconds. */
const releaseMs = 50;

/** Resolves when nothing is pressed: advice moves what is below it, and a control that moves between press and release gets no click. */
async function pointerReleased(): Promise<void> {
  while (document.querySelector(':active')) await new Promise((resolve) => setTimeout(resolve, releaseMs));
}

/** Returns advice on a condition after a pause of the typing. A failure gives none: advice never blocks a form. */
export function useAdvice(condition: string): Advice | undefined {
  const { api } = useSession();
  const [known, setKnown] = useState<{ condition: string; advice: Advice }>();
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
  return known?.condition === text ? known.advice : undefined;
}
