/**
 * Prints the savings and misses of the pre-filter on clips that are drawn, encoded and labeled here: `npm run bench -- motion`. `--quick` uses one seed per
 * class.
 */
import { parseArgs } from 'node:util';
import { type Extent, makeClips } from './motion/clips.ts';
import { detectors } from './motion/detectors.ts';
import { evaluate } from './motion/evaluate.ts';
import { evaluateRegions } from './motion/regions.ts';
import { goalTable, recallTable, regionTable, savingsTable } from './motion/report.ts';

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values;
const extent: Extent = quick
  ? { stillSeeds: 1, eventSeeds: 1, halves: ['held out'] }
  : { stillSeeds: 4, eventSeeds: 6, halves: ['tuning', 'held out'] };

const clips = await makeClips(extent, (done, of) => process.stderr.write(`\r${done} of ${of} clips`));
process.stderr.write('\n');
const outcomes = Object.fromEntries(
  Object.entries(detectors).map(([name, newDetector]) => [name, evaluate(clips, newDetector)]),
);
const sections = [
  goalTable(outcomes, extent.halves),
  savingsTable(outcomes, extent.halves),
  ...extent.halves.map((half) => recallTable(outcomes['watchpost']!, half)),
  regionTable(evaluateRegions(clips.filter(({ half }) => half === 'held out'))),
];
const pictures = clips.reduce((total, clip) => total + clip.pictures.length, 0);
const heading = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${clips.length} clips, ${pictures} frames`;
console.log([heading, ...sections].join('\n\n'));
