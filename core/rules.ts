/** Numbers that decisions use, each with its source. */
export const rules = {
  /** Waits after consecutive capture failures, the last one repeated. */
  captureBackoffSeconds: [1, 2, 4, 8, 16],
  /** Delay of a tick that means a downtime of the service: longer than a capture and its retries take. */
  downtimeSeconds: 120,
  /** Timeout of a capture: a tick that is later than this means that the service did not watch. */
  failedCaptureSeconds: 50,
  /**
   * Maximum difference between the clocks of several machines. A time further ahead was stored before the clock was set
   * back.
   */
  clockDifferenceSeconds: 5,
  /** Grace period of a lost or stale stream, in seconds; its job fails afterwards. */
  streamGraceSeconds: 60,
  /** A playlist counts as stale when its newest segment is older than this many segment durations … */
  staleAfterSegments: 3,
  /** … and than this; RFC 8216 section 6.2.2 has a live server update within 1.5 target durations. */
  staleAfterSeconds: 6,
  /** Maximum time between two captures of a stale playlist, so that the grace period is measured. */
  staleRecheckSeconds: 16,
  /** Time of identical frames that makes a stream frozen; a single repetition does not. */
  frozenAfterSeconds: 30,
  /** Maximum time before a capture that is scanned, in seconds: a check each minute may be late. */
  maxScanSeconds: 70,
  /** Maximum moments of a capture that are judged before its newest frame. */
  maxEarlierMoments: 3,
  /** Number of skips in a row after which the next check is forced. */
  forceCheckAfterSkips: 6,
  /** Model failures in a row that fail the job. */
  maxModelFailures: 5,
  /** Default of the setting `modelGraceSeconds`: a restart of a model server takes minutes. */
  modelGraceSeconds: 300,
  /** Wait before a failed summary is requested again, unless a capture is earlier. */
  summaryRetrySeconds: 30,
  /** Upper bound of the setting `maxJobSeconds`, and of the duration that `max_windows` of a digest sets. */
  maxJobDurationSeconds: 86_400,
  /** Upper bound of the setting `retentionSeconds`. */
  maxRetentionSeconds: 86_400,
  /** Retention of an idempotency key: longer than any client retries. */
  idempotencyKeySeconds: 86_400,
  /** Samples kept of a window: more than contact sheets for any model take, and a job's record stays below 20 kB. */
  maxSamplesPerWindow: 120,
  /** Windows that one change closes, which matters after an outage: a transaction of DynamoDB has 100 items. */
  maxWindowsPerCommit: 10,
  /** Timeout of the last summary of a cancelled digest, in seconds: below the 30 s response limit of an HTTP API. */
  cancelSummaryTimeoutSeconds: 10,
  /** Silence beyond the next wake-up after which `reconcile` inspects a job. */
  leaseMarginSeconds: 600,
  /**
   * Lifetime of a slot whose job is not stored yet, in seconds: longer than the wait for a permit and the probe of the
   * stream.
   */
  slotReservationSeconds: 180,
  /**
   * Maximum silence of a job whose execution runs. More than all retries of Begin, Capture and Analyze in
   * `run.asl.json` take, each attempt up to its timeout, after a start that `reconcile` had to repeat: 4.6 hours, as a
   * test computes.
   */
  maxTickSeconds: 18_000,
  /** First lease of an accepted job, in seconds: its execution must start within it. */
  startLeaseSeconds: 60,
  /** Delay of a tick that is reported as late, in seconds: longer than a capture takes. */
  lateTickSeconds: 60,
  /**
   * Delay of a check of a watch that its events report, in seconds: longer than a capture, a model call and their first
   * retries take.
   */
  lateWatchSeconds: 300,
  /** Time for which unsure sightings are counted, a week, and least number of them that is worth a message. */
  unsureSeconds: 7 * 86_400,
  minUnsureSightings: 7,
  /**
   * Time for which a camera shows another view than that of the regions, and pictures of it, after which it is
   * reported.
   */
  otherViewSeconds: 600,
  otherViewPictures: 5,
  /** Factor of the interval in an overload from which the checks of a watch are reported as late. */
  lateWatchStretch: 2,
  /**
   * Failed attempts in a row after which a destination is reported as failing: those of the first two and a half
   * minutes.
   */
  failingDestinationAttempts: 4,
  /** Delay of a tick, in intervals, that means a downtime of the service. */
  lateIntervals: 2,
  lateAllowanceSeconds: 30,
  maxCoverageGaps: 20,
  /** Waits after failed attempts: attempts at 0, 5, 30 and 120 s. */
  retryWaitSeconds: [5, 25, 90],
  /** Waits after failed attempts of a watch's event at a destination: about a day together. */
  destinationWaitSeconds: [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200],
  /** The longest `Retry-After` of a destination that is honoured. */
  maxDestinationRetryAfterSeconds: 3_600,
  /** Minimum time between attempts at one address of a vendor: Slack permits one message per second, others more. */
  minDestinationSpacingSeconds: 1,
  /**
   * Messages about openings of a watch within `burstSeconds`, after which further openings wait and are one message to
   * people.
   */
  openingsPerBurst: 2,
  burstSeconds: 60,
  /**
   * Validity of a link to evidence that needs no key, in seconds: people read an e-mail or a channel after a vacation
   * of a week.
   */
  evidenceLinkSeconds: 7 * 86_400,
  /** Time between two repetitions of the states of a watch at a broker. */
  brokerRefreshSeconds: 300,
  /** Time after which Home Assistant shows a state that was not repeated as unavailable: more than two repetitions. */
  brokerExpirySeconds: 900,
  /** Minimum time between calls of a heartbeat destination. */
  heartbeatSeconds: 55,
  /** Retention of a delivery, longer than its attempts and than any job. */
  deliverySeconds: 7 * 86_400,
  /** Shortest time after which an event that waits for an earlier one finds a wake that was lost: this … */
  heldBackSeconds: 1_800,
  /** … or this share of its age: the queue on AWS receives a message 75 times, and keeps it for four days. */
  heldBackShare: 1 / 8,
  /** Maximum duration of an attempt with its result, in seconds: as long as its message is invisible. */
  maxAttemptSeconds: 120,
  /** Wait of an event while another attempt of it is under way, in seconds: longer than most attempts take. */
  underWaySeconds: 30,
  /** Maximum attempts in the record of one delivery, however often it is sent again. */
  maxAttemptsKept: 40,
  /**
   * Maximum random change of a retry delay, as a fraction of it: it spreads the load on a receiver that has recovered.
   */
  retryJitter: 0.2,
  /** The longest `Retry-After` that is honoured. */
  maxRetryAfterSeconds: 300,
  /** Minimum time from the last attempt of a resend to the next resend of the same delivery. */
  minResendSeconds: 60,
  /** Age from which an event without an attempt was not for a destination: it was added later. */
  firstAttemptSeconds: 15,
  /** Minimum time between test alerts at one destination. */
  minTestSeconds: 10,
  /** Time after the end of a job at which the service drops its undelivered events, in seconds. */
  deliveryTtlSeconds: 3600,
  /**
   * Added by a restore to numbers that identify something to receivers: sequences, and openings of alerts. After the
   * backup, the lost time gave out higher ones; a repetition would look like a delivery that was received already. More
   * than a job or a watch gives out in the 35 days of point-in-time recovery, and sequences have ten digits.
   */
  restoredJump: 10_000_000,
  /** Default of the setting `watchesPerCaller`. */
  maxWatchesPerCaller: 25,
  /** Time without sight after which a condition of a watch is unknown or unconfirmed: this … */
  watchSightSeconds: 600,
  /** … or this many intervals, whichever is longer. */
  watchSightIntervals: 8,
  /** Longest time that nobody saw after which a condition counts as still holding, in seconds. */
  maxUnseenHoldSeconds: 600,
  /** Waits of a watch after consecutive captures of a lost stream, the last one repeated. */
  watchBackoffSeconds: [1, 2, 4, 8, 16, 30, 60, 120, 300],
  /** Maximum duration of a probe of a lost camera, in seconds: one can take that long to respond. */
  lostProbeSeconds: 15,
  /** Wait of a watch after a refused password, in seconds: cameras lock an account after a few attempts. */
  watchRefusedSeconds: 1800,
  /** Time of a frozen or black image after which a watch reports its stream as lost, in seconds. */
  watchStillSeconds: 600,
  /** Consecutive joint model calls that left a condition out, after which it has a call of its own. */
  maxLeftOut: 3,
  /** Answers of the model without a verdict in a row, after which a condition waits for motion as others do. */
  maxUnjudged: 3,
  /** Time of failed model calls after which a watch reports them, in seconds. */
  modelLostSeconds: 300,
  /** Hours whose statistics one tick writes: a transaction has 100 items. */
  maxHoursPerTick: 48,
  /** Attempts to commit a change that conflicts with concurrent ones. */
  maxCommitAttempts: 8,
  /**
   * Ticks of one execution. Its history ends at 25,000 events (Step Functions quotas): 14 per tick, and 302 if every
   * retry is used, as a test computes. It also bounds the duration of an execution to less than its timeout.
   */
  ticksPerExecution: 60,
  /**
   * Timeout of an execution, in seconds. More than all ticks of an execution take, one of them with every retry;
   * without one, a stuck execution of Step Functions ends after a year.
   */
  executionTimeoutSeconds: 172_800,
  /**
   * Wait of a watch from which the next execution does the waiting, in seconds, and the longest wait. An execution has
   * at most one long wait, at its begin, and then waits below this: less than its timeout together.
   */
  handOverWaitSeconds: 900,
  maxWatchWaitSeconds: 86_400,
  /**
   * Begins of one execution whose ticks run in bursts; each follows a failed burst and adds up to 70 events to the
   * history.
   */
  beginsPerExecution: 50,
  /**
   * Maximum time from the start of a burst after which it begins no tick, in seconds: leaves 55 s for the last tick.
   */
  maxBurstSeconds: 240,
  /** Time from the start of a burst at which Step Functions ends it: Express workflows have 300 s. */
  burstTimeoutSeconds: 295,
  /**
   * Longest wait in a burst, in seconds. Express workflows bill the wait ($0.00000104 per second at 64 MB), and another
   * burst costs four transitions and a request ($0.000101).
   */
  maxBurstWaitSeconds: 97,
  /**
   * Shortest time to a failure of a burst that means a cut, in seconds: a refused call and its retries take some
   * seconds.
   */
  minHoldSeconds: 30,
  /**
   * Cuts that shorten the bursts of a deployment, fewer than the failures in a row that end a job, and the time without
   * a cut that ends it.
   */
  cutsToShorten: 3,
  shortBurstsSeconds: 86_400,
  /**
   * Shortest wait between two bursts that is worth a transition ($0.000025) instead of being billed in the next burst,
   * in seconds.
   */
  minRestSeconds: 24,
} as const;
