import { expect, test } from 'vitest';
import { shortestVisitOfWatch } from '../../../core/policies/watch/shortest-visit-of-watch.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { quiet } from '../../support/watches/scanned-watch.ts';
import { scriptScan } from '../../support/watches/scans.ts';
import { createWatch, run, stored, world } from '../../support/watches/watch-world.ts';

const everySecond = (seconds: number) =>
  Array.from({ length: seconds - 1 }, (_, index) => seconds - 1 - index);

/** Runs a tick whose scan has these facts, and returns the claim after it. */
async function scan(
  step: WorkflowState,
  coveredSeconds: number,
  leftOutSeconds = 0,
): Promise<{ step: WorkflowState; claim: number }> {
  scriptScan(world, 0, quiet(...everySecond(coveredSeconds)), { coveredSeconds, leftOutSeconds });
  const next = await run(step, 1);
  return { step: next, claim: shortestVisitOfWatch(await stored()) };
}

test.each([3, 5, 6, 7])(
  'a scan of %i s between two checks does not hide that those of the interval leave time out',
  async (seconds) => {
    let { step, claim } = await scan(await createWatch(), 8, 2);
    const byChecks = claim;
    for (const covered of [seconds, 10 - seconds]) {
      ({ step, claim } = await scan(step, covered));
      expect(claim).toBe(byChecks);
    }
    ({ claim } = await scan(step, 10));
    expect(claim).toBeLessThan(byChecks);
  },
);
