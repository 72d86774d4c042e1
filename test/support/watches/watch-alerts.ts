import type { Alert } from '../../../core/records/watch-state.ts';
import { newAlert, opened } from '../../contract/watch-records.ts';
import type { World } from '../world.ts';

/** Opens an alert of the first condition of a watch, as a tick does, with a frame. Returns its id. */
export async function openAlert(
  { c, pictures }: Pick<World, 'c' | 'pictures'>,
  watchId: string,
): Promise<string> {
  const watch = (await c.watches.get(watchId, new Date(0)))!;
  const at = c.now().toISOString();
  const frameKey = `evidence/7/${watch.source_id}/1.jpg`;
  const [condition, ...others] = watch.state.conditions;
  const alert: Alert = newAlert(watch, {
    condition_id: condition!.condition_id,
    opened_at: at,
    frame_key: frameKey,
  });
  pictures.set(frameKey, new Uint8Array([255, 216, 1]));
  const open = {
    alert_id: alert.alert_id,
    opened_at: at,
    seen_from: at,
    held_at: at,
    clear_from: null,
    reminded_at: null,
    acknowledged_at: null,
    unconfirmed: false,
    severity: 'warning' as const,
    retention_days: 7,
    explanation: alert.explanation,
  };
  const event = {
    ...opened(alert),
    watch_id: watchId,
    watch_name: watch.config.name,
    labels: [],
    sequence: watch.sequence + 1,
    timestamp: at,
  };
  await c.watches.commit({
    runId: watchId,
    expectedVersion: watch.version,
    set: {
      sequence: watch.sequence + 1,
      state: {
        ...watch.state,
        openings: 1,
        conditions: [{ ...condition!, phase: 'open', alert: open }, ...others],
      },
      sight: { ...watch.sight, last_frame: { key: frameKey, captured_at: at, evidence: false } },
    },
    events: [event],
    alerts: [{ kind: 'open', alert }],
    hours: [{ hour: `${at.slice(0, 13)}:00:00.000Z`, counts: { checks: 3, watched_ms: 9000, gap_ms: 1000 } }],
  });
  return alert.alert_id;
}
