import { afterAll, beforeAll, describe } from 'vitest';
import { findDynamoLocal, openDynamoLocal, type TestTable } from './start-dynamo-local.ts';

export type { TestTable } from './start-dynamo-local.ts';

/**
 * Gives the tests of a file tables on the DynamoDB Local of the run. Without Java they are skipped with a warning; in
 * CI that is a failure.
 */
export function withDynamoLocal(cases: (makeTable: () => Promise<TestTable>) => void): void {
  const port = findDynamoLocal();
  if (port === undefined) {
    if (process.env['CI']) throw new Error('The tests of the DynamoDB adapter need Java 17 or newer.');
    process.stderr.write(
      'SKIPPED: the tests of the DynamoDB adapter need Java 17 or newer, which is not installed.\n',
    );
  }
  describe.runIf(port !== undefined)('DynamoDB Local', () => {
    let local: Awaited<ReturnType<typeof openDynamoLocal>>;
    beforeAll(async () => void (local = await openDynamoLocal(port ?? 0)));
    afterAll(() => local.close());
    cases(() => local.makeTable());
  });
}
