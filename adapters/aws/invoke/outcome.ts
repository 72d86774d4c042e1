import { z } from 'zod';
import {
  InvalidUrlError,
  NotLiveError,
  StreamEndedError,
  StreamFetchError,
  TransientError,
  UnreadableFrameError,
} from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { modelCallSchema } from '../../../core/records/vision.ts';

/** Result of an invocation between functions: a value, or a core error as data. Other errors fail it. */

const failureSchema = z.object({
  kind: z.literal('failed'),
  name: z.enum([
    'InvalidUrl',
    'NotLive',
    'StreamEnded',
    'StreamFetch',
    'UnreadableFrame',
    'Vision',
    'Transient',
  ]),
  message: z.string(),
  remediation: z.string(),
  calls: z.array(modelCallSchema).optional(),
});
type Failure = z.output<typeof failureSchema>;

const callOutcomeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done'), value: z.unknown() }),
  failureSchema,
]);
/** Result of an invocation between functions. */
export type CallOutcome = z.output<typeof callOutcomeSchema>;

/** Runs the work in the called function. Throws errors other than the listed core errors. */
export async function toOutcome(work: () => Promise<unknown>): Promise<CallOutcome> {
  try {
    return { kind: 'done', value: await work() };
  } catch (error) {
    const failure = toFailure(error);
    if (!failure) throw error;
    return failure;
  }
}

/** Returns the value in the calling function, or throws the error again. */
export function unwrapOutcome<Value>(outcome: unknown, schema: z.ZodType<Value>): Value {
  const read = callOutcomeSchema.parse(outcome);
  if (read.kind === 'failed') throw rebuilt(read);
  return schema.parse(read.value);
}

function toFailure(error: unknown): Failure | undefined {
  const name = failureName(error);
  if (name === undefined || !(error instanceof Error)) return undefined;
  const remediation =
    'remediation' in error && typeof error.remediation === 'string' ? error.remediation : '';
  const calls = error instanceof VisionError ? { calls: [...error.calls] } : {};
  return { kind: 'failed', name, message: error.message, remediation, ...calls };
}

/** Names an error by its class, subclasses first: minified classes lose their names. */
function failureName(error: unknown): Failure['name'] | undefined {
  if (error instanceof InvalidUrlError) return 'InvalidUrl';
  if (error instanceof StreamEndedError) return 'StreamEnded';
  if (error instanceof NotLiveError) return 'NotLive';
  if (error instanceof StreamFetchError) return 'StreamFetch';
  if (error instanceof UnreadableFrameError) return 'UnreadableFrame';
  if (error instanceof VisionError) return 'Vision';
  return error instanceof TransientError ? 'Transient' : undefined;
}

function rebuilt({ name, message, remediation, calls }: Failure): Error {
  switch (name) {
    case 'InvalidUrl':
      return new InvalidUrlError(remediation);
    case 'NotLive':
      return new NotLiveError(remediation, message);
    case 'StreamEnded':
      return new StreamEndedError();
    case 'StreamFetch':
      return new StreamFetchError(remediation, message);
    case 'UnreadableFrame':
      return new UnreadableFrameError(remediation);
    case 'Vision':
      return new VisionError(remediation, calls && { calls });
    case 'Transient':
      return new TransientError(message);
  }
}
