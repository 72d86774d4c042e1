import { checkFiles, countByRule, formatFinding } from './check-files.ts';
import { advisoryRules } from './rules.ts';

/**
 * `npm run check:words`: the rules of docs/contribute/vocabulary.md that need no context. `--all` shows findings of advisory rules too,
 * `--summary` counts only.
 */

const all = checkFiles('.');
const findings = all.filter(({ rule }) => !advisoryRules.has(rule));
const shown = process.argv.includes('--all') ? all : findings;
if (process.argv.includes('--summary')) console.table(countByRule(all));
else for (const finding of shown) console.log(formatFinding(finding));
console.log(`${findings.length} findings; the rules are in docs/contribute/vocabulary.md`);
process.exitCode = findings.length === 0 ? 0 : 1;
