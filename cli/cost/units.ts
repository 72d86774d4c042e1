/**
 * What a tick uses on AWS. Memory is the stack's (`lib/`), compared by a test. Seconds are upper estimates for Lambda from what
 * `npm run bench:capture` measures on two cores, with 60 ms a request to the stream and a cold connection now and then; database units are
 * those of docs/data.md; tokens of prompt and schema are characters / 4 of what `adapters/vision` sends.
 */
export const units = {
  capture: {
    megabytes: 1769,
    seconds: { frames: 0.5, clip: 1, hybrid: 1.2 },
  },
  analyze: {
    megabytes: 512,
    secondsWithoutModel: 0.08,
    /** Waiting for the model is billed too: Nova Lite's answer of 60 tokens. */
    modelSeconds: { frames: 1.5, clip: 2.5, hybrid: 2.8 },
  },
  /** An alert's picture is read, signed and sent. */
  deliver: { megabytes: 512, seconds: 0.3 },
  writeUnitsPerTick: 10,
  readUnitsPerTick: 4,
  /** Sent, received, deleted. */
  queueRequestsPerEvent: 3,
  /** 14 history events of Step Functions without data, and two lines of each function. */
  logBytesPerTick: 9_000,
  promptTokens: 450,
  answerTokens: 60,
} as const;
