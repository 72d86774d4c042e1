import type { Case } from './case.ts';
import type { Outcome } from './run-cases.ts';
import type { Statement } from './statements.ts';

const marks = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' };

/** Returns one line per case, with the fault of a failed case below it. */
export function lineFor({ id, title, covers, result, reason, firstReason, seconds }: Outcome): string {
  const head = `${marks[result]}  ${id}: ${title}  [${covers.join(' ')}]`;
  if (result === 'skipped')
    return `${head}
        skipped: ${reason}`;
  const retried = firstReason === undefined ? '' : `, at the second attempt; at the first: ${firstReason}`;
  const time = `  ${seconds.toFixed(1)} s${retried}`;
  if (result === 'passed') return head + time;
  return `${head}${time}\n${indented(reason ?? '')}`;
}

export function closingLine(outcomes: readonly Outcome[]): string {
  return `${count(outcomes, 'passed')} passed, ${count(outcomes, 'failed')} failed, ${count(outcomes, 'skipped')} skipped`;
}

export function jsonReport(baseUrl: string, outcomes: readonly Outcome[]): string {
  return JSON.stringify(
    {
      base_url: baseUrl,
      passed: count(outcomes, 'passed'),
      failed: count(outcomes, 'failed'),
      skipped: count(outcomes, 'skipped'),
      cases: outcomes.map(({ reason, ...rest }) => ({ ...rest, reason: reason ?? null })),
    },
    null,
    2,
  );
}

export function listing(cases: readonly Case[]): string {
  return cases.map(({ id, title, covers }) => `${id}: ${title}  [${covers.join(' ')}]`).join('\n');
}

/**
 * Lists statements with their decision, cases and tests: those whose id begins with a text of `only`, or whose words
 * contain it.
 */
export function listStatements(
  statements: readonly Statement[],
  cases: readonly Case[],
  only: readonly string[],
): string {
  return statements
    .filter(({ id, text, decision = '' }) =>
      (only.length === 0 ? [''] : only).some((part) =>
        /^[IW]-/.test(part) ? `${id}.`.startsWith(`${part}.`) : `${text} ${decision}`.includes(part),
      ),
    )
    .map(({ id, text, decision, tests }) =>
      [
        `${id}  ${text}`,
        ...(decision === undefined ? [] : [`  decision: ${decision}`]),
        ...cases
          .filter(({ covers }) => covers.includes(id))
          .map((each) => `  case ${each.id}: ${each.title}`),
        ...tests.map(({ file, title }) => `  test ${file}: ${title}`),
      ].join('\n'),
    )
    .join('\n');
}

export function count(outcomes: readonly Outcome[], result: Outcome['result']): number {
  return outcomes.filter((outcome) => outcome.result === result).length;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `        ${line}`)
    .join('\n');
}
