import fc from 'fast-check';
import type { Capture, CaptureRequest } from '../../../core/records/capture.ts';
import { StreamEndedError, StreamFetchError, VisionError } from '../../../core/errors.ts';
import type { CompareMotion } from '../../../core/records/motion.ts';
import { after, start } from '../../contract/records.ts';

/** A stream of two hours, written down beforehand: what is wrong with it when, and when the condition holds. */

export const segmentSeconds = 2;

export type Trouble = {
  kind: 'down' | 'expired' | 'stalled' | 'frozen' | 'black' | 'still' | 'silent model';
  /** Seconds from the start. */
  from: number;
  to: number;
};
export type Episode = { from: number; to: number };
export type Script = {
  troubles: Trouble[];
  episodes: Episode[];
  /** From then on for good. */
  finally?: { kind: 'down' | 'stalled' | 'ended'; from: number };
};

export const scriptSeconds = 7200;

/** Dropouts and stalls stay below the grace period of 60 s, and the model is silent for less than five looks. */
export function scripts(intervalSeconds: number): fc.Arbitrary<Script> {
  const longest = {
    down: 45,
    expired: 1,
    stalled: 45,
    frozen: 200,
    black: 120,
    still: 300,
    'silent model': 4 * intervalSeconds - 1,
  };
  const trouble = fc
    .record({
      pauseSeconds: fc.integer({ min: 30, max: 240 }),
      kind: fc.constantFrom(...kinds),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ pauseSeconds, kind, share }) => ({
      pauseSeconds,
      kind,
      seconds: Math.round(1 + share * (longest[kind] - 1)),
    }));
  const episode = fc.record({
    pauseSeconds: fc.integer({ min: 400, max: 900 }),
    seconds: fc.integer({ min: 5, max: maxEpisodeSeconds }),
  });
  return fc
    .record({
      troubles: fc.array(trouble, { minLength: 40, maxLength: 80, size: 'max' }),
      episodes: fc.array(episode, { minLength: 8, maxLength: 16, size: 'max' }),
    })
    .map(({ troubles, episodes }) => ({
      troubles: onTheClock(troubles),
      episodes: onTheClock(episodes),
    }));
}

const kinds = ['down', 'expired', 'stalled', 'frozen', 'black', 'still', 'silent model'] as const;

/** A cooldown of at least this, and pauses of more than that: one alert an episode. */
export const maxEpisodeSeconds = 180;

/** One after the other, as far as they end within the two hours. */
function onTheClock<T extends { pauseSeconds: number; seconds: number }>(spans: T[]) {
  let clock = 0;
  return spans
    .map(({ pauseSeconds, seconds, ...rest }) => {
      const from = clock + pauseSeconds;
      clock = from + seconds;
      return { ...rest, from, to: clock };
    })
    .filter(({ to }) => to < scriptSeconds - 60);
}

/** One capture attempt and its result, as the scripted stream recorded it. */
export type Attempt = {
  at: Date;
  result: 'picture' | 'failed' | 'ended';
  /** Index of the captured segment; the same index again means a repeated segment. */
  segment?: number;
  /** The model was asked about this picture: it answered so, or not at all. */
  judged?: boolean | 'silent';
};

export function playScript(script: Script, now: () => Date) {
  const attempts: Attempt[] = [];
  /** Which expiry was got over by resolving the URL again. */
  const renewed = new Set<Trouble>();
  return { attempts, capture, judge, compareMotion };

  async function capture({ resolveAgain }: CaptureRequest): Promise<Capture> {
    const at = toSeconds(now());
    if (script.finally?.kind === 'ended' && at >= script.finally.from) {
      attempts.push({ at: now(), result: 'ended' });
      throw new StreamEndedError();
    }
    const expired = script.troubles.find((trouble) => trouble.kind === 'expired' && trouble.from <= at);
    const latest = script.troubles.findLast(({ kind, from }) => kind === 'expired' && from <= at) ?? expired;
    if (latest && resolveAgain) renewed.add(latest);
    const refused = latest !== undefined && !renewed.has(latest);
    const gone = script.finally?.kind === 'down' && at >= script.finally.from;
    if (refused || gone || troubleAt('down', at)) {
      attempts.push({ at: now(), result: 'failed' });
      throw new StreamFetchError('Try again in a while.');
    }
    const segment = segmentAt(at);
    attempts.push({ at: now(), result: 'picture', segment });
    const picture = pictureAt(segment * segmentSeconds);
    return {
      frame: Buffer.from(JSON.stringify({ holds: picture.holds })),
      thumbnail: Buffer.from(JSON.stringify(picture)),
      capturedAt: after(segment * segmentSeconds),
      position: { segment: `${segment}:/${segment}.ts`, segment_seconds: segmentSeconds },
    };
  }

  /** The playlist stands still while the stream is stalled; afterwards it is where the clock is. */
  function segmentAt(at: number): number {
    const final =
      script.finally?.kind === 'stalled' && at >= script.finally.from ? script.finally : undefined;
    return Math.floor((final ?? troubleAt('stalled', at) ?? { from: at }).from / segmentSeconds);
  }

  function troubleAt(kind: Trouble['kind'], at: number): Trouble | undefined {
    return script.troubles.find((trouble) => trouble.kind === kind && trouble.from <= at && at < trouble.to);
  }

  /** `scene`: what there is to see, of which only a change is motion. `noise`: different in any two pictures but frozen ones. */
  function pictureAt(at: number) {
    const holds = script.episodes.some(({ from, to }) => from <= at && at < to);
    const frozen = troubleAt('frozen', at);
    if (frozen) {
      const before = script.episodes.some(({ from, to }) => from <= frozen.from && frozen.from < to);
      return { scene: `frozen ${frozen.from}`, noise: frozen.from, holds: before, black: false };
    }
    if (troubleAt('black', at)) return { scene: 'black', noise: at, holds: false, black: true };
    const still = troubleAt('still', at);
    return { scene: still ? `still ${still.from} ${holds}` : `moving ${at}`, noise: at, holds, black: false };
  }

  async function judge({ frame }: { frame: Uint8Array }) {
    const attempt = attempts.at(-1)!;
    if (troubleAt('silent model', toSeconds(now()))) {
      attempt.judged = 'silent';
      throw new VisionError('Try again.');
    }
    const { holds }: { holds: boolean } = JSON.parse(Buffer.from(frame).toString());
    attempt.judged = holds;
    const explanation = holds ? 'It is there.' : 'It is not there.';
    return { triggered: holds, explanation, tokens: { input_tokens: 10, output_tokens: 2 } };
  }
}

type Picture = { scene: string; noise: number; black: boolean };

/** As the real one, for pictures that say what they show. */
const compareMotion: CompareMotion = (thumbnail, state) => {
  const { scene, noise, black }: Picture = JSON.parse(Buffer.from(thumbnail).toString());
  const known: { reference: string; noise: number } | null = state === null ? null : JSON.parse(state);
  const moved = known?.reference !== scene;
  return {
    moved,
    changedShare: moved ? 0.1 : 0,
    black,
    identicalToPrevious: known?.noise === noise,
    stateWithNewReference: JSON.stringify({ reference: scene, noise }),
    stateWithSameReference: JSON.stringify({ reference: known?.reference ?? scene, noise }),
    earlier: [],
  };
};

function toSeconds(at: Date): number {
  return (at.getTime() - start.getTime()) / 1000;
}
