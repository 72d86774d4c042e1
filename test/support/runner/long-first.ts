import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { laneOrder, longFiles } from '../../lanes.ts';

/** Starts the long files of a lane first: one that starts last runs alone, beside an idle core. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of the sequencer, not that of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ project, moduleId }: TestSpecification): number {
  const isLong = longFiles.includes(relative(process.cwd(), moduleId));
  return 2 * laneOrder.findIndex((lane) => lane === project.name) + (isLong ? 0 : 1);
}
