import { allCases } from './cases/index.ts';
import { choose } from './choose.ts';
import { readOptions, usage, UsageError, type Options } from './options.ts';
import { prepare } from './prepare.ts';
import { closingLine, count, jsonReport, lineFor, listing, listStatements } from './report.ts';
import { runCases } from './run-cases.ts';
import { statements } from './statements.ts';

/** `npm run conformance`: exit code 0 when no case failed, 1 when one did, 2 when the command line is wrong. */

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  if (args.includes('--help')) return print(usage, 0);
  try {
    return await run(readOptions(args));
  } catch (error) {
    if (error instanceof UsageError) return print(`${error.message}\n\n${usage}`, 2);
    throw error;
  }
}

async function run(options: Options): Promise<number> {
  if (options.statements) return print(listStatements(statements, allCases, options.only), 0);
  const cases = choose(allCases, options.only, options.skip);
  if (cases.length === 0) throw new UsageError(`No case matches ${options.only.join(' or ')}`);
  if (options.list) return print(listing(cases), 0);
  const { setting, close } = await prepare(options);
  try {
    const running = [
      ...runCases(cases, setting, { casesAtOnce: options['at-once'], retry: options.retry }).values(),
    ];
    const outcomes = await Promise.all(
      running.map(async (outcome) => {
        const done = await outcome;
        if (!options.json) print(lineFor(done), 0);
        return done;
      }),
    );
    print(options.json ? jsonReport(options['base-url'], outcomes) : `\n${closingLine(outcomes)}`, 0);
    return count(outcomes, 'failed') > 0 ? 1 : 0;
  } finally {
    await close();
  }
}

function print(text: string, exitCode: number): number {
  process.stdout.write(`${text}\n`);
  return exitCode;
}
