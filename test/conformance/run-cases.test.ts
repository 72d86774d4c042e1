import { expect, test } from 'vitest';
import { casesOfEachRun, knownGaps, runsOnEmulator, timedCases, waitingCase } from '../aws/known-gaps.ts';
import type { Case } from './case.ts';
import { allCases } from './cases/index.ts';
import { lineFor } from './report.ts';
import { runCases, type Setting } from './run-cases.ts';

const setting = { baseUrl: 'http://127.0.0.1', keys: ['wp_one'], missing: {} } as unknown as Setting;

/** Returns a case that fails as often as said, and the order in which cases have run. */
function failing(id: string, times: number, ran: string[]): Case {
  let left = times;
  const run = async () => {
    ran.push(id);
    left -= 1;
    if (left >= 0) throw new Error('the job ended');
  };
  return { id, title: `${id} passes`, covers: [], run };
}

test('a case that failed runs once more with retry when all others have ended, and its line says so', async () => {
  const ran: string[] = [];
  const cases = [failing('once', 1, ran), failing('always', 2, ran), failing('never', 0, ran)];
  const outcomes = await Promise.all(runCases(cases, setting, { retry: true }).values());
  expect(outcomes.map(({ id, result }) => [id, result])).toEqual([
    ['once', 'passed'],
    ['always', 'failed'],
    ['never', 'passed'],
  ]);
  expect(ran).toEqual(['once', 'always', 'never', 'once', 'always']);
  expect(outcomes.map(lineFor)[0]).toMatch(/^ok .* at the second attempt; at the first: the job ended$/);
});

test('a case runs once without retry', async () => {
  const ran: string[] = [];
  const [outcome] = await Promise.all(runCases([failing('once', 1, ran)], setting).values());
  expect([outcome?.result, ran]).toEqual(['failed', ['once']]);
});

test('the emulator runs cases of each kind, all but its gaps with --all, and lists none that does not exist', () => {
  const ids = allCases.map(({ id }) => id);
  expect([...Object.keys(knownGaps), ...timedCases, waitingCase].filter((id) => !ids.includes(id))).toEqual(
    [],
  );
  expect(ids.filter((id) => !runsOnEmulator(id, true))).toEqual(
    ids.filter((id) => Object.keys(knownGaps).includes(id)),
  );
  const each = ids.filter((id) => runsOnEmulator(id, false));
  expect(each).toHaveLength(casesOfEachRun.length);
  // The bounds of callers and addresses are other code on AWS.
  expect(each).toEqual(
    expect.arrayContaining(['job-of-another-caller', 'watch-ownership', 'error-guarded-address']),
  );
  const kinds = (all: string[]) =>
    new Set(all.map((id) => id.split('-')[0]).filter((kind) => kind !== 'field'));
  expect(kinds(each)).toEqual(kinds(ids.filter((id) => runsOnEmulator(id, true))));
});
