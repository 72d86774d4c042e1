/** Conformance cases that the emulator does not support, each with the reason and the test that covers it instead. */
export const knownGaps: Readonly<Record<string, string>> = {
  'logs-prefix':
    "the emulator's FilterLogEvents ignores startFromHead and returns the oldest entries; test/adapters/aws/recent-log.test.ts covers reading from the end",
  'max-jobs':
    'ten concurrent streams need more processes than two cores start in time; the contract suite creates thirty concurrent jobs on DynamoDB Local',
};

/**
 * Conformance cases that measure seconds, which run before the others and alone: the emulator runs all functions on the
 * cores of this machine.
 */
export const timedCases: readonly string[] = ['webhook-alert-in-time', 'webhook-retry-waits'];

/**
 * Begin of the ids of cases about what a field accepts, which only `--all` runs here: the functions have the app of one
 * machine, and there `test/conformance/embedded.test.ts` runs them. They send a fifth of all requests.
 */
export const fieldCases = 'field-';

/**
 * Conformance case that waits until an ended job is removed: two minutes, in which it needs one key and no processor
 * time.
 */
export const waitingCase = 'job-retention';
