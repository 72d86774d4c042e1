/** Conformance cases that the emulator does not support, each with the reason and the test that covers it instead. */
export const knownGaps: Readonly<Record<string, string>> = {
  'logs-prefix':
    "the emulator's FilterLogEvents ignores startFromHead and returns the oldest entries; test/adapters/aws/recent-log.test.ts covers reading from the end",
  'max-jobs':
    'ten concurrent streams need more processes than two cores start in time; the contract suite creates thirty concurrent jobs on DynamoDB Local',
};

/**
 * Conformance cases that measure seconds, which run before the others and alone: the emulator runs all functions on the
 * cores of this machine. Each run has the first of them.
 */
export const timedCases: readonly string[] = ['webhook-alert-in-time', 'webhook-retry-waits'];

/**
 * Cases of each run. The functions have the app, the decisions and the decoders of one machine, where
 * `test/conformance/embedded.test.ts` runs all cases; here are those of each kind of endpoint, and those that keep
 * callers and addresses apart. `--all`, as in the workflow of releases, runs every case but the known gaps.
 */
export const casesOfEachRun: readonly string[] = `
  auth-keys auth-missing-key internal-needs-scope http-malformed http-large-body mcp-exists version
  check-holds check-frame frame-returned error-capture error-guarded-address validate-live web-camera-check idempotency
  monitor-prefilter monitor-clip monitor-duration digest-webhook-flow stream-lost
  webhook-alert-in-time webhook-flow sse-flow sse-reader-leaves
  job-cancel job-of-another-caller jobs-pages metrics-count logs-level
  watch-opens-and-closes watch-change watch-event-stream watch-stream-lost watch-test-destinations watch-one-machine
  watch-ownership watch-schedule
  watches-backtest moments-search moments-ask
`
  .trim()
  .split(/\s+/);

/** Returns true for a case of each run, and for every case that the emulator supports if it `takesAll`. */
export function runsOnEmulator(id: string, takesAll: boolean): boolean {
  return !(id in knownGaps) && (takesAll || casesOfEachRun.includes(id));
}

/**
 * Conformance case that waits until an ended job is removed: two minutes, in which it needs one key and no processor
 * time.
 */
export const waitingCase = 'job-retention';
