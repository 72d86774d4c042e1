import type { Alert } from '../../client/index.ts';
import type { NewExample } from '../evaluate/set-writer.ts';

export type ReviewedAlertsDeps = {
  listAlerts: (query: { after?: string; limit: number }) => Promise<{
    alerts: Pick<Alert, 'alert_id' | 'condition' | 'explanation' | 'review' | 'frame_url' | 'watch_name'>[];
    next_after: string | null;
  }>;
  alertFrame: (alertId: string) => Promise<Uint8Array>;
  add: (example: NewExample) => Promise<boolean>;
};

const pageSize = 100;

/** Adds the reviewed alerts that have evidence to a set: `yes` if the alert was right, else `no`. Returns how many were new. */
export async function addReviewedAlerts({
  listAlerts,
  alertFrame,
  add,
}: ReviewedAlertsDeps): Promise<number> {
  let added = 0;
  let after: string | null | undefined;
  do {
    const page = await listAlerts({ limit: pageSize, ...(after ? { after } : {}) });
    for (const alert of page.alerts) {
      if (!alert.review || alert.frame_url === null) continue;
      const isNew = await add({
        id: `${alert.watch_name}, alert ${alert.alert_id}`,
        condition: alert.condition,
        expected: alert.review.correct ? 'yes' : 'no',
        frame: await alertFrame(alert.alert_id),
        verdict: { triggered: true, explanation: alert.explanation },
        ...(alert.review.note === '' ? {} : { note: alert.review.note }),
      });
      if (isNew) added += 1;
    }
    after = page.next_after;
  } while (after !== null);
  return added;
}
