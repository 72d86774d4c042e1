import { useEffect, useRef, useState } from 'preact/hooks';
import { asProblem } from '../api/problem.ts';
import type { Problem } from '../api/problem.ts';
import { createBeep } from './beep.ts';
import { runWalk } from './run-walk.ts';
import type { WalkVerdict } from './score.ts';
import { toGray } from './to-gray.ts';

/** Picture of a walk test: base64 JPEG and one verdict per condition. */
export type WalkPicture = { frame: string; verdicts: WalkVerdict[] };
/** Picture with its gray copy. */
type Kept = { verdicts: WalkVerdict[]; gray: Uint8Array };

/** State of a walk test. `pictures` are different ones: a stream may show the same one to several checks. */
export type WalkState = {
  /** Start in epoch milliseconds; undefined if the test has ended. */
  since: number | undefined;
  pictures: readonly Kept[];
  newest: WalkPicture | undefined;
  problem?: Problem;
};

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Starts a walk test, and another by `start`. An error ends it; its pictures stay. */
export function useWalkTest(check: (signal: AbortSignal) => Promise<WalkPicture>, beeps: boolean) {
  const [state, setState] = useState<WalkState>({ since: undefined, pictures: [], newest: undefined });
  const abort = useRef<AbortController>(undefined);
  const isLoud = useRef(beeps);
  isLoud.current = beeps;

  const stop = () => {
    abort.current?.abort();
    setState((before) => ({ ...before, since: undefined }));
  };
  const start = async () => {
    abort.current?.abort();
    const { signal } = (abort.current = new AbortController());
    const beep = createBeep();
    let shown: string | undefined;
    setState({ since: Date.now(), pictures: [], newest: undefined });
    const onChecked = async (newest: WalkPicture) => {
      if (newest.frame === shown) return;
      shown = newest.frame;
      const kept = { verdicts: newest.verdicts, gray: await toGray(newest.frame) };
      if (signal.aborted) return;
      if (isLoud.current && newest.verdicts.some(({ triggered }) => triggered)) beep.play();
      setState((before) => ({ ...before, pictures: [...before.pictures, kept], newest }));
    };
    try {
      await runWalk({ check, onChecked, nowMs: Date.now, wait }, signal);
      if (!signal.aborted) stop();
    } catch (error) {
      const problem = asProblem(error);
      if (!signal.aborted) setState((before) => ({ ...before, since: undefined, problem }));
    } finally {
      beep.close();
    }
  };
  useEffect(() => {
    void start();
    return () => abort.current?.abort();
  }, []);
  return { state, start: () => void start(), stop };
}
