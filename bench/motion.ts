/**
 * Prints the savings and misses of the pre-filter, and of a plain difference to the previous frame, on clips that are drawn, encoded and labeled here.
 * Usage: node bench/motion.ts
 *   --tuning    even seeds, for tuning; without it the odd ones, for reports
 *   --quick     one seed per class
 */
import { parseArgs } from 'node:util';
import { compareMotion } from '../adapters/media/motion/compare-motion.ts';
import { describeMachine } from './harness.ts';
import { asInAJob, previousFrame } from './motion/detectors.ts';
import { evaluate, type Clip, type Outcome, type Tally } from './motion/evaluate.ts';
import { eventScene, eventTitles } from './motion/event-scenes.ts';
import { shares } from './motion/scene.ts';
import { savingsGoal, stillScene, stillTitles } from './motion/still-scenes.ts';
import { renderThumbnails } from './motion/thumbnails.ts';

const { quick, tuning } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, tuning: { type: 'boolean', default: false } },
}).values;
const atOnce = 4;
const seeds = (count: number) =>
  Array.from({ length: quick ? 1 : count }, (_, at) => 2 * at + (tuning ? 0 : 1));
const scenes = [
  ...stillTitles.flatMap((title) => seeds(4).map((seed) => stillScene(title, seed))),
  ...eventTitles.flatMap((title) => seeds(6).map((seed) => eventScene(title, seed))),
];
const clips: Clip[] = [];
const rest = scenes.entries();
const draw = async (): Promise<void> => {
  for (const [at, scene] of rest) {
    clips[at] = { scene, pictures: await renderThumbnails(scene) };
    process.stderr.write(`\r${clips.filter(Boolean).length} of ${scenes.length} clips`);
  }
};
await Promise.all(Array.from({ length: atOnce }, draw));
process.stderr.write('\n');

const watchpost = evaluate(clips, () => asInAJob(compareMotion));
const previous = evaluate(clips, previousFrame);
const goals: Record<string, (outcome: Outcome) => Tally> = {
  'recall, 1 % and above (goal 99)': (outcome) => outcome.recall({ shares: (share) => share >= 0.01 }),
  'recall, 0.5 % (goal 95)': (outcome) => outcome.recall({ shares: (share) => share === 0.005 }),
  'recall, 0.2 %': (outcome) => outcome.recall({ shares: (share) => share === 0.002 }),
  'savings, noise and overlays (goal 90)': (outcome) => outcome.savings(savingsGoal),
  'savings, all still scenes': (outcome) => outcome.savings(),
};
const measured = Object.entries(goals).map(([name, tally]) => [
  name,
  { watchpost: percent(tally(watchpost)), 'previous frame': percent(tally(previous)) },
]);
console.table(Object.fromEntries(measured));
console.table(
  Object.fromEntries(
    stillTitles.map((title) => [title, { 'checks skipped': percent(watchpost.savings([title])) }]),
  ),
);
const recall = (title: string) =>
  shares.map((share) => [
    `${share * 100} %`,
    percent(watchpost.recall({ title, shares: (one) => one === share })),
  ]);
console.table(Object.fromEntries(eventTitles.map((title) => [title, Object.fromEntries(recall(title))])));
console.log(describeMachine());

function percent({ hits, of }: Tally): string {
  return of === 0 ? '–' : `${((hits / of) * 100).toFixed(1)} % of ${of}`;
}
