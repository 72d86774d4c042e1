import { z } from 'zod';
import type { Log } from '../../core/ports/observability.ts';
import type { MediaStore } from '../../core/ports/media-store.ts';
import type { RunChange } from '../../core/ports/runs.ts';
import type { CaptureInput, CaptureOutput, WorkflowState } from '../../core/records/workflow.ts';

/** Event of a tick whose capture stored its output outside of the state. */
const storedOutputSchema = z.looseObject({ captured: z.object({ output_key: z.string() }) });

type Deps = { media: Pick<MediaStore, 'put' | 'get' | 'remove'>; log: Log };
export type ExecutionState = ReturnType<typeof createExecutionState>;

/**
 * Keeps pictures and texts out of the state of Standard executions: Step Functions keeps what their states receive and
 * return for 90 days, and nothing removes it before (docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html).
 * A motion reference is a picture of 160×90; where the state is kept, it has the key of an object below the run's
 * prefix instead. Of a burst, an Express execution, nothing is kept but what its parent gives and receives.
 */
export function createExecutionState({ media, log }: Deps) {
  return {
    /** Returns the input of a capture with its motion reference. One that cannot be read costs one more check. */
    async withMotion(input: CaptureInput): Promise<CaptureInput> {
      const { motion } = input;
      if (!isKey(motion)) return input;
      const stored = await readText(motion).catch((error: unknown) => {
        log.warning('Motion reference not read', { error: String(error) });
        return undefined;
      });
      return { ...input, motion: stored ?? null };
    },

    /** Stores the output of a capture outside of a burst, and returns its key. */
    async storeOutput(input: CaptureInput, id: string, output: CaptureOutput) {
      if (input.in_burst) return output;
      const key = `captures/${input.source_id}/${input.tick}-${id}.json`;
      await store(key, JSON.stringify(output));
      return { output_key: key };
    },

    /**
     * Returns an event with the output of its capture. One that is gone, such as that of an erased job, is a tick
     * without a capture.
     */
    async complete(event: unknown, now: Date): Promise<{ complete: unknown; outputKey?: string }> {
      const stored = storedOutputSchema.safeParse(event).data;
      if (stored === undefined) return { complete: event };
      const { output_key: outputKey } = stored.captured;
      const text = await readText(outputKey);
      const captured: unknown =
        text === undefined ? { kind: 'not_captured', began_at: now.toISOString() } : JSON.parse(text);
      return { complete: { ...stored, captured }, outputKey };
    },

    /** Returns a change whose motion reference, of a hand-over, is stored beside the record. */
    async detachChange(change: RunChange, { source_id, tick }: CaptureInput): Promise<RunChange> {
      const { handed_over: motion } = change.set;
      if (motion === undefined || motion === null || isKey(motion)) return change;
      const stored = await storeMotion(motion, { source_id, tick: tick + 1 });
      return { ...change, set: { ...change.set, handed_over: stored } };
    },

    /**
     * Returns a state whose motion reference is stored, unless the burst continues, and removes the objects that the
     * tick has used.
     */
    async detach<Result extends WorkflowState | { run_id: string; done: true }>(
      state: Result,
      used: readonly (string | null | undefined)[] = [],
    ): Promise<Result> {
      if (!('capture' in state)) return state;
      const { burst, done, over = done, capture } = state;
      const { motion } = capture;
      const continues = burst !== undefined && !done;
      const isStored = continues || motion === null || isKey(motion);
      const kept = over ? null : isStored ? motion : await storeMotion(motion, capture);
      await remove(used.filter(isKey).filter((key) => key !== kept));
      return {
        ...state,
        capture: { ...capture, motion: kept, ...(burst !== undefined && { in_burst: true }) },
      };
    },
  };

  async function storeMotion(
    motion: string,
    { source_id, tick }: Pick<CaptureInput, 'source_id' | 'tick'>,
  ): Promise<string> {
    const key = `captures/${source_id}/motion-${tick}`;
    await store(key, motion);
    return key;
  }

  async function store(key: string, text: string): Promise<void> {
    await media.put(key, new TextEncoder().encode(text), 'application/json');
  }

  async function readText(key: string): Promise<string | undefined> {
    const bytes = await media.get(key);
    return bytes && new TextDecoder().decode(bytes);
  }

  /** Removes objects; one that remains expires with the captures. */
  async function remove(keys: string[]): Promise<void> {
    if (keys.length === 0) return;
    await media.remove(keys).catch((error: unknown) => {
      log.warning('Motion reference not removed', { error: String(error) });
    });
  }
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('captures/');
}
