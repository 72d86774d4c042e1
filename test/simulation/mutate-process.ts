import { mutations } from './mutations.ts';
import { runMutation } from './run-mutation.ts';

/**
 * Breaks one rule after the other and expects a simulation to notice each: `npm run simulate -- mutations "M of N"`. Without names it runs all,
 * which takes about fifteen minutes.
 */
const names = process.argv.slice(2);
let survivors = 0;
for (const mutation of mutations) {
  if (names.length > 0 && !names.includes(mutation.rule)) continue;
  const began = performance.now();
  const result = runMutation(mutation);
  if (result !== 'killed') survivors += 1;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(`${result.padEnd(9)} ${mutation.rule} (${mutation.file}, ${seconds} s)\n`);
}
process.stdout.write(`${mutations.length} rules, ${survivors} survivors\n`);
process.exitCode = survivors === 0 ? 0 : 1;
