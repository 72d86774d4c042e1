import { checkFiles, countByRule, formatFinding } from './check-files.ts';

/**
 * Checks the rules of docs/contribute/vocabulary.md that need no context.
 * Usage: npm run check -- words
 *   --summary        counts findings by rule
 */

const findings = checkFiles('.');
if (process.argv.includes('--summary')) console.table(countByRule(findings));
else for (const finding of findings) console.log(formatFinding(finding));
console.log(`${findings.length} findings; the rules are in docs/contribute/vocabulary.md`);
process.exitCode = findings.length === 0 ? 0 : 1;
