import { useEffect, useRef, useState } from 'preact/hooks';
import { asProblem, type Problem } from '../api/problem.ts';
import type { WalkVerdict } from './score.ts';
import { toJpeg } from '../api/use-blob-address.ts';
import { graySize } from './motion.ts';
import type { Api } from '../api/api.ts';
import type { CheckRequest } from '../api/types.ts';

export const walkSeconds = 60;
/** Minimum time from one check to the next, in milliseconds. */
const everyMs = 1_000;

type Deps<Checked> = {
  check: (signal: AbortSignal) => Promise<Checked>;
  onChecked: (checked: Checked) => Promise<void>;
  nowMs: () => number;
  wait: (ms: number) => Promise<void>;
};

/** Checks one picture after the other until the time is over or `signal` aborts. Throws the first error of a check. */
export async function runWalk<Checked>(
  { check, onChecked, nowMs, wait }: Deps<Checked>,
  signal: AbortSignal,
): Promise<void> {
  const endMs = nowMs() + walkSeconds * 1000;
  for (let startMs = nowMs(); !signal.aborted && startMs < endMs; startMs = nowMs()) {
    const checked = await check(signal);
    if (signal.aborted) return;
    await onChecked(checked);
    await wait(Math.max(0, startMs + everyMs - nowMs()));
  }
}

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

const beepHertz = 880;
const beepSeconds = 0.12;

/** Creates the sound of a walk test. The browser gives it after a click only; without one it is silent. */
function createBeep(): { play: () => void; close: () => void } {
  const audio = new AudioContext();
  return {
    play: () => {
      const [tone, volume] = [audio.createOscillator(), audio.createGain()];
      tone.frequency.value = beepHertz;
      volume.gain.setValueAtTime(0.2, audio.currentTime);
      volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + beepSeconds);
      tone.connect(volume).connect(audio.destination);
      tone.start();
      tone.stop(audio.currentTime + beepSeconds);
    },
    close: () => void audio.close(),
  };
}

/** Returns the gray levels of a small copy of a base64 JPEG. */
async function toGray(base64: string): Promise<Uint8Array> {
  const { width, height } = graySize;
  const size = { resizeWidth: width, resizeHeight: height, resizeQuality: 'medium' } as const;
  const bitmap = await createImageBitmap(toJpeg(base64), size);
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  context?.drawImage(bitmap, 0, 0);
  bitmap.close();
  const { data } = context?.getImageData(0, 0, width, height) ?? { data: [] };
  return Uint8Array.from({ length: width * height }, (_, index) => {
    const [red = 0, green = 0, blue = 0] = data.slice(index * 4, index * 4 + 3);
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  });
}

/** Returns the check of a walk test by a single check of the Try page. */
export function walkByCheck(api: Api, request: CheckRequest) {
  return async (signal: AbortSignal): Promise<WalkPicture> => {
    const { frame_b64: frame = '', ...verdict } = await api.look(request, signal);
    return { frame, verdicts: [{ condition: request.condition, ...verdict }] };
  };
}

export function walkByPreview(api: Api, watchId: string) {
  return async (signal: AbortSignal): Promise<WalkPicture> => {
    const { frame_b64: frame, verdicts } = await api.previewWatch(watchId, signal, 'frames');
    return { frame, verdicts: verdicts.map((verdict) => ({ ...verdict, boxes: verdict.boxes ?? [] })) };
  };
}
