import { afterAll, beforeAll, describe } from 'vitest';
import { hasJava, startDynamoLocal, type TestTable } from './start-dynamo-local.ts';

export type { TestTable } from './start-dynamo-local.ts';

/**
 * Starts AWS's DynamoDB Local for the tests of this file, in memory, on an ephemeral port. Without Java, the tests
 * are skipped with a warning; in CI that is a failure.
 */
export function withDynamoLocal(cases: (makeTable: () => Promise<TestTable>) => void): void {
  if (!hasJava()) {
    if (process.env['CI']) throw new Error('The tests of the DynamoDB adapter need Java 17 or newer.');
    process.stderr.write(
      'SKIPPED: the tests of the DynamoDB adapter need Java 17 or newer, which is not installed.\n',
    );
  }
  describe.runIf(hasJava())('DynamoDB Local', () => {
    let local: Awaited<ReturnType<typeof startDynamoLocal>>;
    beforeAll(async () => void (local = await startDynamoLocal()));
    afterAll(() => local.stop());
    cases(() => local.makeTable());
  });
}
