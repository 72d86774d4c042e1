/**
 * Prints the savings and misses of the pre-filter, and of a plain difference to the previous frame, on clips that are drawn, encoded and labeled here.
 * Usage: node bench/motion.ts
 *   --quick     one seed per class
 */
import { parseArgs } from 'node:util';
import { compareMotion } from '../adapters/media/motion/compare-motion.ts';
import { describeMachine } from './harness.ts';
import { asInAJob, evaluate, previousFrame, type Clip, type Outcome, type Tally } from './motion/evaluate.ts';
import { eventScene, eventTitles, savingsGoal, stillScene, stillTitles } from './motion/scenes.ts';
import { renderThumbnails } from './motion/thumbnails.ts';

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values;
const atOnce = 4;
const seeds = (count: number) => Array.from({ length: quick ? 1 : count }, (_, at) => 2 * at + 1);
const scenes = [
  ...stillTitles.flatMap((title) => seeds(4).map((seed) => stillScene(title, seed))),
  ...eventTitles.flatMap((title) => seeds(6).map((seed) => eventScene(title, seed))),
];
const clips: Clip[] = [];
const rest = scenes.entries();
const draw = async (): Promise<void> => {
  for (const [at, scene] of rest) clips[at] = { scene, pictures: await renderThumbnails(scene) };
};
await Promise.all(Array.from({ length: atOnce }, draw));

const watchpost = evaluate(clips, () => asInAJob(compareMotion));
const previous = evaluate(clips, previousFrame);
const recall = (name: string, shares: (share: number) => boolean) => [
  [`recall, ${name}`, (outcome: Outcome) => outcome.recall({ shares })] as const,
  ...eventTitles.map(
    (title) => [`recall, ${name}: ${title}`, (one: Outcome) => one.recall({ title, shares })] as const,
  ),
];
const measures: (readonly [string, (outcome: Outcome) => Tally])[] = [
  ...recall('1 % and above (goal 99)', (share) => share >= 0.01),
  ...recall('0.5 % (goal 95)', (share) => share === 0.005),
  ['recall, 0.2 %', (outcome) => outcome.recall({ shares: (share) => share === 0.002 })],
  ['savings, noise and overlays (goal 90)', (outcome) => outcome.savings(savingsGoal)],
  ['savings, all still scenes', (outcome) => outcome.savings()],
  ...stillTitles.map((title) => [`savings: ${title}`, (one: Outcome) => one.savings([title])] as const),
];
console.table(
  Object.fromEntries(
    measures.map(([name, tally]) => [
      name,
      { watchpost: percent(tally(watchpost)), 'previous frame': percent(tally(previous)) },
    ]),
  ),
);
console.log(describeMachine());

function percent({ hits, of }: Tally): string {
  return of === 0 ? '–' : `${((hits / of) * 100).toFixed(1)} % of ${of}`;
}
