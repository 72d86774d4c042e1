/**
 * Prints the savings and misses of the pre-filter, and of a plain difference to the previous frame, on clips that are
 * drawn, encoded and labeled here.
 * Usage: npm run bench -- motion
 */
import { compareMotion } from '../adapters/media/motion/compare-motion.ts';
import { describeMachine, percent } from './harness.ts';
import { asInAJob, drawClips, evaluate, previousFrame, type Outcome, type Tally } from './motion/clips.ts';
import { eventScene, eventTitles, savingsGoal, stillScene, stillTitles } from './motion/scenes.ts';

const seeds = (count: number) => Array.from({ length: count }, (_, index) => 2 * index + 1);
const stills = stillTitles.flatMap((title) => seeds(4).map((seed) => stillScene(title, seed)));
const events = eventTitles.flatMap((title) => seeds(6).map((seed) => eventScene(title, seed)));
const clips = await drawClips([...stills, ...events], 4);
const watchpost = evaluate(clips, () => asInAJob(compareMotion));
const previous = evaluate(clips, previousFrame);

const rows: Record<string, object> = {};
addRecall('1 % and above (goal 99)', (share) => share >= 0.01);
addRecall('0.5 % (goal 95)', (share) => share === 0.005);
add('recall, 0.2 %', ({ recall }) => recall((share) => share === 0.002));
add('savings, noise and overlays (goal 90)', ({ savings }) => savings(savingsGoal));
add('savings, all still scenes', ({ savings }) => savings());
for (const title of stillTitles) add(`savings: ${title}`, ({ savings }) => savings([title]));
console.table(rows);
console.log(describeMachine());

function addRecall(name: string, shares: (share: number) => boolean): void {
  add(`recall, ${name}`, ({ recall }) => recall(shares));
  for (const title of eventTitles) add(`recall, ${name}: ${title}`, ({ recall }) => recall(shares, title));
}

function add(name: string, count: (outcome: Outcome) => Tally): void {
  const print = ({ hits, of: total }: Tally) => `${percent(hits, total)} of ${total}`;
  rows[name] = { watchpost: print(count(watchpost)), 'previous frame': print(count(previous)) };
}
