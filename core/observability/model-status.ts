import { VisionError } from '../vision-errors.ts';
import { judgeCondition, wrapModel, type VisionModel } from '../ports/vision-model.ts';
import { about, type Finding, type Log } from '../ports/observability.ts';

/** Red image of 224 × 126 px, the smallest input of a vision model. */
export const testPicture = new Uint8Array(
  Buffer.from(
    '/9j/4AAQSkZJRgABAgAAAQABAAD//gAQTGF2YzU5LjM3LjEwMAD/2wBDAAg+Pkk+SVVVVVVVVWRdZGhoaGRkZGRoaGhwcHCDg4NwcHBoaHBwfH' +
      'yDg4+Tj4eHg4eTk5ubm7q6srLZ2eD/////xABNAAEBAAAAAAAAAAAAAAAAAAAABgEBAQEAAAAAAAAAAAAAAAAAAAYHEAEAAAAAAAAAAAAAAAAA' +
      'AAAAEQEAAAAAAAAAAAAAAAAAAAAA/8AAEQgAfgDgAwEiAAIRAAMRAP/aAAwDAQACEQMRAD8AiwEo38AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' +
      'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' +
      'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB/9k=',
    'base64',
  ),
);

export const testCondition = 'The picture is red';

export type ModelStatusDeps = {
  vision: VisionModel;
  /** Monotonic time. */
  steadyNow: () => Date;
  /** Maximum duration of the test, in seconds. */
  timeoutSeconds: number;
};

export async function testModel({ vision, steadyNow, timeoutSeconds }: ModelStatusDeps): Promise<Finding> {
  const name = vision.provider === vision.model ? vision.provider : `${vision.provider}, ${vision.model}`;
  try {
    const media = { mode: 'frames', frame: testPicture } as const;
    const timeout = () => AbortSignal.timeout(timeoutSeconds * 1000);
    await vision.lifecycle.prepare(timeout());
    const startedAt = steadyNow();
    const { triggered } = await judgeCondition(vision, media, { condition: testCondition }, timeout());
    const seconds = ((steadyNow().getTime() - startedAt.getTime()) / 1000).toFixed(1);
    return triggered
      ? about('model').ok(`${name}: answered a test picture in ${seconds} s`)
      : about('model').warning(
          `${name}: answered in ${seconds} s, but says that a red picture is not red`,
          'Use a model that understands images (WATCHPOST_VISION_MODEL).',
        );
  } catch (error) {
    const loading = vision.lifecycle.loading();
    if (loading !== undefined) return describeLoading(vision, loading);
    return about('model').failed(
      `${name}: does not answer`,
      error instanceof VisionError ? error.remediation : 'Read the log of the service.',
      readCause(error),
    );
  }
}

function describeLoading({ provider }: VisionModel, loading: string): Finding {
  return about('model').pending(`${provider}: ${loading}`);
}

/** Returns the innermost cause, which names the fault: a refused connection rather than a failed fetch. */
function readCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message || error.name : readCause(error.cause);
}

/** Time between two tests, in seconds. A model that works is not tested again. */
const retestSeconds = 60;

/**
 * Creates the status of the model: a test at the start, and one per minute while the model fails. A failed call alone
 * proves nothing, because its image may be the cause. Logs each change.
 */
export function createModelStatus(
  deps: ModelStatusDeps & { log: Log; setTimer: (fire: () => void, delayMs: number) => () => void },
) {
  const { vision, log, setTimer } = deps;
  let finding: Finding = about('model').pending(`${vision.provider}: not tested yet`);
  let cancelTimer: (() => void) | undefined;
  let isClosed = false;

  async function test(): Promise<Finding> {
    const tested = await testModel(deps);
    if (isClosed) return tested;
    cancelTimer = undefined;
    record(tested);
    if (finding.status === 'failed' || finding.status === 'pending') testLater();
    return finding;
  }

  function testLater(): void {
    if (!isClosed) cancelTimer ??= setTimer(() => void test(), retestSeconds * 1000);
  }

  function record(tested: Finding): void {
    const isNews = tested.status !== finding.status || tested.next !== finding.next;
    finding = tested;
    if (!isNews) return;
    const { status, message, next, detail } = tested;
    const fields = { ...(next !== null && { next }), ...(detail !== undefined && { cause: detail }) };
    if (status === 'ok' || status === 'pending') log.info(`Model tested: ${message}`);
    else log.warning(`Model tested: ${message}`, fields);
  }

  return {
    /** The same model; its failed calls lead to a test. */
    vision: wrapModel(vision, async (call) => {
      try {
        return await call();
      } catch (error) {
        if (error instanceof VisionError && (finding.status === 'ok' || finding.status === 'warning'))
          testLater();
        throw error;
      }
    }),
    read: (): Finding => {
      const loading = vision.lifecycle.loading();
      return loading === undefined ? finding : describeLoading(vision, loading);
    },
    /** Tests the model in the background. Returns the first result. */
    start: test,
    close: (): void => {
      isClosed = true;
      cancelTimer?.();
      vision.lifecycle.close();
    },
  };
}
