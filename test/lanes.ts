/** Lanes of the tests. A test file belongs to the first lane with a pattern that matches it. */
export const lanes = {
  /** Whole services with many streams, which wait for minutes: beside other lanes, a slow machine overloads them. */
  services: ['test/conformance/embedded.test.ts', 'test/cli/service/service.test.ts'],
  /**
   * Templates of the stack. Their files share the CDK, whose import takes seconds, and the stacks that they have
   * synthesized.
   */
  stacks: ['test/lib/**/*.test.ts'],
  /** Whole services, functions and packages, captures, Chromium, adapters that need sockets or processes. */
  processes: [
    'test/adapters/aws/{client-settings,lookup,mail,media-store,platform-secret,recent-log}.test.ts',
    'test/adapters/aws/dynamodb/**/*.test.ts',
    'test/adapters/aws/telemetry/telemetry.test.ts',
    'test/adapters/contained.test.ts',
    'test/adapters/destinations/{answers,destination-sender,hostile-receivers,http-sender,picture-refused,telegram}.test.ts',
    'test/adapters/egress/{connections,guarded-http,keep-alive,lenient-http,open-response,proxy-dispatcher}.test.ts',
    'test/adapters/embedded/*/{call-limiter,caller-eraser,caller-store,delivery-queue,delivery-store,event-sessions}.test.ts',
    'test/adapters/embedded/*/{job-store,key-store,log-buffer,media-store,meter,usage-ledger,watch-store}.test.ts',
    'test/adapters/embedded/**/{data-directory,kill}.test.ts',
    'test/adapters/http/routes/analyze-frame.test.ts',
    'test/adapters/http/sse/slow-reader.test.ts',
    'test/adapters/{mcp,media}/**/*.test.ts',
    'test/adapters/onvif/cameras.test.ts',
    'test/adapters/platforms/{twitch,youtube}.test.ts',
    'test/adapters/recordings/{recording-capturer,scans-as-live}.test.ts',
    'test/adapters/vision/{judge-moments,search-in-pictures}.test.ts',
    'test/adapters/vision/bedrock/bedrock-vision.test.ts',
    'test/adapters/vision/local/real-model.test.ts',
    'test/adapters/vision/objects/{drawn-scene,thread-detector}.test.ts',
    'test/adapters/vision/openai/*.test.ts',
    'test/adapters/vision/pixel/**/*.test.ts',
    'test/console/{console,edit-every-field,pages,watch-pages}.test.ts',
    'test/core/stream/jpeg.test.ts',
    'test/{attacks,cli,client,conformance,docs,fuzz,layers,repository}/**/*.test.ts',
    'test/simulation/run-mutation.test.ts',
    // Two hours of virtual time take more than seconds.
    'test/simulation/virtual-jobs.test.ts',
  ],
  /** Everything else: no socket and no process, which `test/support/runner/no-side-effects.ts` holds. */
  core: ['test/**/*.test.ts'],
} as const;

export type Lane = keyof typeof lanes;

/**
 * Lanes in the order of their runs, each beside no other.
 */
export const laneOrder: readonly Lane[] = ['services', 'stacks', 'processes', 'core'];

/**
 * Files that take longest, by processor time or by waits. Without times of a run before, as in CI, a large file counts
 * as a long one.
 */
export const longFiles: readonly string[] = [
  'test/lib/stage-kinds.test.ts',
  'test/lib/bundle/bundles.test.ts',
  'test/lib/construct/packed.test.ts',
  'test/console/console.test.ts',
  'test/console/watch-pages.test.ts',
  'test/adapters/aws/dynamodb/contracts.test.ts',
  'test/docs/snippets.test.ts',
  'test/cli/commands/replay.test.ts',
  'test/attacks/abuse/abuse.test.ts',
  'test/adapters/media/motion/compare-motion.test.ts',
  'test/adapters/media/motion/goals.test.ts',
  'test/fuzz/media/media.test.ts',
];

/** Patterns of the lanes before `lane`, whose files do not belong to it. */
export function excludedFrom(lane: Lane): string[] {
  const names = Object.keys(lanes);
  return Object.values(lanes).slice(0, names.indexOf(lane)).flat();
}
