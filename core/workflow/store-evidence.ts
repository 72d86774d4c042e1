import type { CoreDeps } from '../dependencies.ts';
import type { Evidence } from '../policies/policy.ts';
import type { Log } from '../ports/log.ts';
import type { RunStore } from '../ports/run-store.ts';
import { storeShownFrame } from '../stream/shown-frame.ts';

type Deps = Pick<CoreDeps, 'media' | 'cutFrame' | 'now'> & { runs: Pick<RunStore, 'alert'> };

/** Stores the pictures that events refer to. An alert without its picture is better than none. */
export async function storeEvidence(evidence: readonly Evidence[], deps: Deps, log: Log): Promise<void> {
  for (const { key, atSeconds, ...capture } of evidence) {
    try {
      await storeShownFrame(key, capture, atSeconds, deps);
    } catch (error) {
      log.warning('Evidence not stored', { error: String(error) });
    }
  }
}

/** Stores the pictures of alerts that stay open again. */
export async function refreshEvidence(
  alertIds: readonly string[],
  { runs, media, now }: Deps,
  log: Log,
): Promise<void> {
  for (const id of alertIds) {
    try {
      const key = (await runs.alert(id, now()))?.frame_key ?? null;
      const frame = key === null ? undefined : await media.get(key);
      if (key !== null && frame) await media.put(key, frame, 'image/jpeg');
    } catch (error) {
      log.warning('Evidence not refreshed', { error: String(error) });
    }
  }
}
