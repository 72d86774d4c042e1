/** Sources whose captures differ in time and traffic: HLS, and cameras by RTSP. */
export const sourceKinds = ['hls', 'rtsp'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/**
 * Usage of one tick on AWS. Memory equals that of the stack (`lib/`); a test compares both. Seconds are upper estimates
 * from `npm run bench -- capture` on two cores, with 60 ms per request and occasional cold connections. Database units
 * are those of docs/contribute/storage.md. Tokens of prompt and schema are the characters that `adapters/vision` sends,
 * divided by 4.
 */
export const units = {
  capture: {
    megabytes: 1769,
    seconds: { frames: 0.5, clip: 1, hybrid: 1.2 },
    /**
     * Delay until the source sends a key frame, in seconds: for a camera half of a group of pictures of 4 s, and two
     * round trips.
     */
    extraSeconds: { hls: 0, rtsp: 2.5 },
    /** Further time of a capture with `look_back`: the segments since the last one in the lowest rendition. */
    scanSeconds: 0.4,
    /** Time for the picture of an earlier moment. */
    earlierFrameSeconds: 0.2,
  },
  analyze: {
    megabytes: 512,
    secondsWithoutModel: 0.08,
    /** Duration of a model call, which Lambda also bills: 60 output tokens of Nova Lite. */
    modelSeconds: { frames: 1.5, clip: 2.5, hybrid: 2.8 },
    /** Further duration of a model call for a frame of an earlier moment. */
    earlierFrameSeconds: 0.3,
  },
  /** Delivery of an alert: reads the evidence, signs and sends the event. */
  deliver: { megabytes: 512, seconds: 0.3 },
  /** Seconds of the stream that a capture requests through a NAT gateway; of HLS, one and a half segments of 6 s. */
  egressSeconds: { hls: 9, rtsp: 3 },
  /** An open event stream is an execution of `stream`, which reads the log twice per second. */
  reader: { megabytes: 512, readUnitsPerSecond: 1, secondsPerRequest: 840 },
  /** A poll of a job: `api`, its key and its job. */
  poll: { megabytes: 512, seconds: 0.05, readUnits: 1.5 },
  /** Database units of a tick. */
  tick: { readUnits: 3, writeUnits: 7 },
  /** Further units of an event with a webhook: its commit and publication, and its first attempt. */
  webhook: { readUnits: 7, writeUnits: 14 },
  /** Send, receive and delete. */
  queueRequestsPerEvent: 3,
  /** Memory of a burst, which Express workflows bill in chunks of 64 MB: its state is below 30 kB. */
  burst: { megabytes: 64 },
  /** History of a Standard execution: 14 events in four transitions, 450 bytes each without data. */
  historyBytesPerTransition: 1575,
  /** Two log lines per function. */
  logBytesPerTick: 2_700,
  promptTokens: 450,
  answerTokens: 60,
  /** Verdict of a watch on a frame: one short sentence, with its numbers. */
  watchAnswerTokens: 35,
  /**
   * Further use of a check that a memory keeps: its item with one frame, or with several; the question what is visible,
   * its field, and the longest answer.
   */
  memory: { writeUnits: 2, writeUnitsOfSeveral: 4, promptTokens: 60, answerTokens: 40 },
} as const;
