import type { JobRuns } from '../support/select-runs.ts';
import { describe } from 'vitest';
import { jobCommitCases } from './job-commit.contract.ts';
import { jobCreationCases } from './job-creation.contract.ts';
import { jobReadingCases } from './job-reading.contract.ts';
import { jobRepairCases } from './job-repair.contract.ts';

/** Contract of `JobStore`. `makeStore` returns an empty store. */
export function describeJobStore(name: string, makeStore: () => Promise<JobRuns>): void {
  describe(`${name} as a job store`, () => {
    describe('creating', () => jobCreationCases(makeStore));
    describe('committing', () => jobCommitCases(makeStore));
    describe('reading', () => jobReadingCases(makeStore));
    describe('finding what to repair', () => jobRepairCases(makeStore));
  });
}
