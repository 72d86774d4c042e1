import type { EarlierMotion } from '../records/motion.ts';
import { rules } from '../rules.ts';
import { confirmApartSeconds, coverLongVisit, momentsApartSeconds } from './sure-visit.ts';

/** Frame of a scan, compared with the newest one and with what the model judged last. */
export type ComparedFrame = EarlierMotion & { at: Date };

export type NewestFrame = {
  at: Date;
  /** True if it is not judged. */
  black: boolean;
  moved: boolean;
  /** True if the last check waits for a confirmation: a frame that shows the same as that check can be one. */
  confirms: boolean;
};

/** Minimum time from a frame that shows the rest of a visit to any other, in seconds. */
const restApartSeconds = 3;

type Kind = 'unchanged' | 'away' | 'arrived';
type Frame = { index: number; ms: number; share: number };

/**
 * Chooses the earlier moments of a capture that the model judges, as indices in time order: the best ones of each
 * visit, unless a visit that is sure to be seen can be hidden in other motion. Black frames are left out. Returns none
 * if nothing moved.
 */
export function chooseMoments(frames: readonly ComparedFrame[], newest: NewestFrame): number[] {
  const scanned = frames.map((frame) => ({
    ms: frame.at.getTime(),
    share: frame.changedShare,
    shown: readKind(frame, newest) === 'away',
  }));
  return coverLongVisit(scanned, newest.at.getTime(), chooseOfVisits(frames, newest));
}

/** Returns true if a visit has none of these frames. */
export function leavesOut(
  frames: readonly ComparedFrame[],
  newest: NewestFrame,
  judged: readonly number[],
): boolean {
  const visits = findRuns(frames, newest).filter(({ kind }) => kind === 'away');
  return visits.some((visit) => !visit.frames.some(({ index }) => judged.includes(index)));
}

/**
 * Chooses of each visit the frame of the greatest difference, and of the greatest one a frame that confirms it, then
 * what shows the rest.
 */
function chooseOfVisits(frames: readonly ComparedFrame[], newest: NewestFrame): number[] {
  const chosen: Frame[] = [];
  const judgedTimes = () => [...(newest.black ? [] : [newest.at.getTime()]), ...chosen.map(({ ms }) => ms)];
  const apart = (seconds: number) => (frame: Frame) => distance(frame, judgedTimes()) >= seconds * 1000;
  const choose = (candidates: readonly (Frame | undefined)[]) => {
    const first = candidates.find((frame) => frame && apart(momentsApartSeconds)(frame));
    if (first && chosen.length < rules.maxEarlierMoments) chosen.push(first);
    return first;
  };
  const runs = findRuns(frames, newest);
  const visits = runs
    .filter(({ kind }) => kind === 'away')
    .map((run) => run.frames.toSorted((one, other) => other.share - one.share))
    .toSorted(([one], [other]) => (other?.share ?? 0) - (one?.share ?? 0));
  const [main = [], ...others] = visits;
  choose(runs.flatMap((run) => (run.kind === 'unchanged' ? run.frames.toReversed() : [])));
  for (const frame of listConfirmed(main.filter(apart(momentsApartSeconds)))) choose([frame]);
  for (const visit of others) choose(visit);
  // An arrival is confirmed by the newest frame.
  choose(
    runs.flatMap((run) => (run.kind === 'arrived' ? run.frames : [])).filter(apart(confirmApartSeconds)),
  );
  const rest = visits.flat();
  for (let left = rules.maxEarlierMoments - chosen.length; left > 0; left -= 1)
    choose([farthest(rest.filter(apart(restApartSeconds)), judgedTimes())]);
  return chosen.map(({ index }) => index).toSorted((one, other) => one - other);
}

/**
 * Returns the greatest frame of a visit with one that confirms it: the farthest that differs about as much, because a
 * slight change that stays shows no visitor. If none is far enough, its first and last frame confirm each other.
 */
function listConfirmed(visit: readonly Frame[]): Frame[] {
  const [greatest] = visit;
  if (!greatest) return [];
  const confirms = (frame: Frame) => distance(frame, [greatest.ms]) >= confirmApartSeconds * 1000;
  const candidates = visit.filter(confirms);
  const similar = candidates.filter(({ share }) => share >= greatest.share / 2);
  const partner = farthest(similar, [greatest.ms]) ?? candidates[0];
  if (partner) return [greatest, partner];
  const inOrder = visit.toSorted((one, other) => one.ms - other.ms);
  const [first, last] = [inOrder[0], inOrder.at(-1)];
  const spans = first && last && last.ms - first.ms >= confirmApartSeconds * 1000;
  return spans ? [first, last, greatest] : [greatest];
}

/**
 * Divides the frames into runs of one kind. A frame is `away` if it shows what is neither in the newest frame nor in
 * the judged one, `arrived` if it shows what came since the last capture and is in the newest frame, and `unchanged` if
 * it shows what waits for a confirmation.
 */
function findRuns(frames: readonly ComparedFrame[], newest: NewestFrame): { kind: Kind; frames: Frame[] }[] {
  const runs: { kind: Kind; frames: Frame[] }[] = [];
  let before: Kind | undefined;
  for (const [index, frame] of frames.entries()) {
    const kind = readKind(frame, newest);
    const run = runs.at(-1);
    const entry = { index, ms: frame.at.getTime(), share: frame.changedShare };
    if (kind !== undefined && kind === before && run) run.frames.push(entry);
    else if (kind !== undefined) runs.push({ kind, frames: [entry] });
    before = kind;
  }
  return runs.filter(({ kind, frames: [first, ...rest] }) => {
    const [begin, end] = [first?.index ?? 0, rest.at(-1)?.index ?? first?.index];
    if (kind === 'unchanged') return begin === 0;
    if (kind === 'away') return true;
    return end === frames.length - 1 && (begin > 0 || frames[0]?.isNews);
  });
}

function readKind(
  { moved, isNews, likeNewest, black }: EarlierMotion,
  newest: NewestFrame,
): Kind | undefined {
  if (black) return undefined;
  if (likeNewest) return moved && newest.moved ? 'arrived' : undefined;
  if (moved || isNews) return 'away';
  return newest.confirms ? 'unchanged' : undefined;
}

/** Returns the milliseconds to the nearest of these times. */
function distance({ ms }: Frame, times: readonly number[]): number {
  return Math.min(...times.map((time) => Math.abs(ms - time)));
}

function farthest(frames: readonly Frame[], times: readonly number[]): Frame | undefined {
  return frames.toSorted((one, other) => distance(other, times) - distance(one, times))[0];
}
