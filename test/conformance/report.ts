import type { Case } from './case.ts';
import type { Outcome } from './run-cases.ts';

const marks = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' };

/** Returns one line per case, with the fault of a failed case below it. */
export function lineFor({ id, title, covers, result, reason, seconds }: Outcome): string {
  const head = `${marks[result]}  ${id}: ${title}  [${covers.join(' ')}]`;
  if (result === 'skipped')
    return `${head}
        skipped: ${reason}`;
  const time = `  ${seconds.toFixed(1)} s`;
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

export function count(outcomes: readonly Outcome[], result: Outcome['result']): number {
  return outcomes.filter((outcome) => outcome.result === result).length;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `        ${line}`)
    .join('\n');
}
