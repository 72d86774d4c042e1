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
 * Cases that only `--all` runs here, as the workflow of releases does. The functions have the app, the decisions and
 * the decoders of one machine, where `test/conformance/embedded.test.ts` runs all cases; here remain those of each
 * endpoint, and of each kind of job, stream, delivery and event stream, and what reads tables, logs, queues or
 * executions, or comes through the edge.
 */
const alikeOnEachHost = `
  http-broken-body http-content-type mcp-needs-key
  auth-invalid-key auth-missing-prefix auth-other-scheme auth-extra-space auth-other-header
  auth-key-format
  check-fails check-latency check-frames check-hybrid error-url error-offline error-codes
  validate-rtsp validate-recording
  frame-no frame-open-question frame-not-returned frame-malformed-base64 frame-too-small frame-schema
  monitor-accepted monitor-defaults monitor-config monitor-max-triggers monitor-unlimited monitor-hybrid
  digest-defaults digest-webhook-wins-over-sse digest-sse-flow digest-polling-flow
  webhook-auto-stopped webhook-retries webhook-url-refused
  sse-data sse-triggered-goes-on
  jobs-query-invalid job-unknown job-id-no-uuid job-codes
  logs-invalid
  watch-defaults watch-limits watch-several-conditions
  moments-bad-input web-camera-monitor web-camera-modes
`
  .trim()
  .split(/\s+/);

/** Returns true for a case that only `--all` runs, as all about what a field accepts. */
export function isAlikeOnEachHost(id: string): boolean {
  return id.startsWith('field-') || alikeOnEachHost.includes(id);
}

/**
 * Conformance case that waits until an ended job is removed: two minutes, in which it needs one key and no processor
 * time.
 */
export const waitingCase = 'job-retention';
