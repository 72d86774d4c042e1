import { availableParallelism } from 'node:os';
import { mutations, type Mutation } from './mutations.ts';
import { runMutation } from './run-mutation.ts';

/**
 * Breaks one rule after the other, on each core, and expects its test or the simulation to notice. Without names, such
 * as "M of N", it runs all, and the simulation of the unbroken source, whose failures would prove nothing.
 * Usage: npm run simulate -- mutations [NAME …]
 */
const unbroken: Mutation = { rule: 'nothing', file: 'core/rules.ts', from: '', to: '' };
const names = process.argv.slice(2);
const chosen =
  names.length === 0 ? [unbroken, ...mutations] : mutations.filter(({ rule }) => names.includes(rule));
const queue = chosen.values();
let surprises = 0;
await Promise.all(Array.from({ length: availableParallelism() }, runAll));
process.stdout.write(`${chosen.length} rules, ${surprises} not as expected\n`);
process.exitCode = surprises === 0 ? 0 : 1;

async function runAll(): Promise<void> {
  for (const mutation of queue) {
    const began = performance.now();
    const result = await runMutation(mutation);
    if (result !== (mutation === unbroken ? 'survived' : 'killed')) surprises += 1;
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const { rule, file, test = 'simulation' } = mutation;
    process.stdout.write(`${result.padEnd(9)} ${rule} (${file}, ${test}, ${seconds} s)\n`);
  }
}
