import { rules } from '../../../core/rules.ts';

/** Timeouts of the calls that an endpoint may wait for on AWS, in seconds. */
export const callSeconds = {
  /** `capture`: request of a stream. */
  probe: 20,
  capture: 20,
  /** `analyze`: model call. */
  model: 18,
  /** Attempt of a webhook (`createHttpSender`). */
  webhook: 30,
  /** Part of a search in moments (`core/memory/search-moments.ts`). */
  search: 25,
  /** Last summary of a cancelled digest. */
  summary: rules.cancelSummaryTimeoutSeconds,
} as const;

/**
 * Calls that each endpoint makes in sequence in the worst case. An endpoint that is absent reads and writes the table
 * only. A test requires an entry of each endpoint that reaches other machines, and holds its time budget, which chooses
 * the origin, to the sum.
 */
export const endpointCalls: Readonly<Record<string, readonly (keyof typeof callSeconds)[]>> = {
  check_once: ['probe', 'capture', 'model'],
  analyze_frame: ['model'],
  validate_stream: ['probe', 'capture'],
  live_monitor: ['probe'],
  live_digest: ['probe'],
  run_again: ['probe'],
  create_watch: ['probe'],
  preview_watch: ['capture', 'model'],
  preview_new_watch: ['probe', 'capture', 'model'],
  test_watch: ['webhook'],
  test_webhook: ['webhook'],
  search_moments: ['search'],
  ask_moments: ['search'],
  backtest_watch: ['search'],
  cancel_job: ['summary'],
  // Refused on AWS.
  list_cameras: [],
  camera_streams: [],
};
