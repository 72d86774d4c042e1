import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { laneOrder, longFiles, waitingFiles } from '../../lanes.ts';

/**
 * Starts the files that mostly wait, then the lanes in their order, and the long files of a lane first: one that starts
 * last runs alone, beside an idle core.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of the sequencer, not that of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ project, moduleId }: TestSpecification): number {
  const file = relative(process.cwd(), moduleId);
  if (waitingFiles.includes(file)) return -1;
  const isLong = longFiles.includes(file);
  return 2 * laneOrder.findIndex((lane) => lane === project.name) + (isLong ? 0 : 1);
}
