/** Conformance cases that the emulator does not support, each with the reason and the test that covers it instead. */
export const knownGaps: Readonly<Record<string, string>> = {
  'webhook-retry-waits':
    'the emulator invokes few consumers of a queue concurrently, so slow receivers of other cases delay retries; test/functions/deliver.test.ts covers the delays',
  'webhook-alert-in-time':
    'for the same reason, an alert waits for the consumers that slow receivers of other cases hold; test/core/delivery/deliver-event.test.ts covers the move of a failed event',
  'logs-prefix':
    "the emulator's FilterLogEvents ignores startFromHead and returns the oldest entries; test/adapters/aws/recent-log.test.ts covers reading from the end",
  'max-jobs':
    'ten concurrent streams need more processes than two cores start in time; the contract suite creates thirty concurrent jobs on DynamoDB Local',
};
