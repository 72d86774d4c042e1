/** Cases of the conformance suite that this emulator cannot carry, each with the reason and with what covers it instead. */
export const knownGaps: Readonly<Record<string, string>> = {
  'webhook-retry-waits':
    'the emulator invokes the consumer of a queue only a few times at once, so that slow receivers of other cases hold retries up; test/functions/deliver.test.ts has the waits',
  'logs-prefix':
    "the emulator's FilterLogEvents does not know startFromHead and gives the oldest entries; test/adapters/aws/recent-log.test.ts reads from the end",
  'max-jobs':
    'ten watched streams at once are more processes than two cores start in the time of the case; the contract suite makes thirty jobs at once on DynamoDB Local',
};
