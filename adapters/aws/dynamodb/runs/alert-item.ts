import { z } from 'zod';
import type { AlertQuery } from '../../../../core/ports/runs.ts';
import { alertSchema, type Alert, type AlertChange } from '../../../../core/records/watch-state.ts';
import { itemKeys } from '../table/keys.ts';
import { readItem, readRecord } from '../table/record.ts';
import { alertsOfCaller, jobsByCaller } from '../table/table-layout.ts';
import type { Query, Table, Item, Write } from '../table/table.ts';

/**
 * Items of alerts. What changes after the opening are columns of their own, so that commits change an alert without
 * reading it. Alerts are in the index of jobs under a partition of their own: `status` is the time of the closing, or
 * `open`, which sorts after all times; `policy` is the watch and the condition.
 */
export function toAlertWrite(change: AlertChange): Write {
  switch (change.kind) {
    case 'open': {
      const { alert } = change;
      return {
        kind: 'put',
        item: {
          ...itemKeys.alert(alert.alert_id),
          caller: `${alertsOfCaller}${alert.caller}`,
          listed_at: listedAt(alert),
          policy: `${alert.watch_id}#${alert.condition_id}#`,
          reminders: alert.reminders,
          ...closedColumns(alert),
          record: JSON.stringify(alert),
        },
      };
    }
    case 'remind':
      return {
        kind: 'update',
        key: itemKeys.alert(change.alertId),
        change: 'ADD #reminders :one',
        values: { ':one': 1 },
      };
    case 'acknowledge':
      return {
        kind: 'update',
        key: itemKeys.alert(change.alertId),
        change: 'SET #acknowledged = :acknowledged',
        values: { ':acknowledged': JSON.stringify(change.acknowledged) },
      };
    case 'clip':
      return {
        kind: 'update',
        key: itemKeys.alert(change.alertId),
        change: 'SET #clip = :clip',
        values: { ':clip': JSON.stringify(change.clip) },
        // The alert may have expired: an update would create a part of it.
        condition: 'attribute_exists(#pk)',
      };
    case 'close':
      return {
        kind: 'update',
        key: itemKeys.alert(change.alertId),
        change: 'SET #closed = :closed, #status = :status, #expires_at = :expires_at, #ttl = :ttl',
        values: Object.fromEntries(
          Object.entries(closedColumns({ closed: change.closed, expires_at: change.expiresAt })).map(
            ([name, value]) => [`:${name}`, value],
          ),
        ),
      };
  }
}

/**
 * Returns the columns of the state of an alert, which its closing changes. An alert can open and close in one change.
 */
function closedColumns({ closed, expires_at }: Pick<Alert, 'closed' | 'expires_at'>) {
  if (closed === null || expires_at === null) return { status: 'open' };
  const ttl = Math.ceil(Date.parse(expires_at) / 1000);
  return { status: closed.at, closed: JSON.stringify(closed), expires_at, ttl };
}

/** Returns undefined for an alert that is unknown or has expired. */
export async function findAlert(table: Table, alertId: string, now: Date): Promise<Alert | undefined> {
  const item = await table.get(itemKeys.alert(alertId));
  const alert = item && readAlertItem(item);
  return alert && (alert.expires_at === null || new Date(alert.expires_at) > now) ? alert : undefined;
}

export function readAlertItem(item: Item): Alert {
  const {
    reminders,
    acknowledged,
    clip,
    closed,
    review,
    expires_at: expiresAt,
  } = readItem(columnsSchema, item);
  return {
    ...readRecord(alertSchema, item),
    reminders,
    acknowledged:
      acknowledged === undefined ? null : partSchemas.acknowledged.parse(JSON.parse(acknowledged)),
    ...(clip !== undefined && { clip: partSchemas.clip.parse(JSON.parse(clip)) }),
    closed: closed === undefined ? null : partSchemas.closed.parse(JSON.parse(closed)),
    review: review === undefined ? null : partSchemas.review.parse(JSON.parse(review)),
    expires_at: expiresAt ?? null,
  };
}

const partSchemas = alertSchema.shape;
const columnsSchema = z.object({
  reminders: z.int().nonnegative(),
  acknowledged: z.string().optional(),
  clip: z.string().optional(),
  closed: z.string().optional(),
  review: z.string().optional(),
  expires_at: z.string().optional(),
});

/** Returns the query of the index for alerts of a caller, newest first. */
export function alertQuery(
  {
    caller,
    watchId,
    conditionId,
    state,
    from,
    to,
    after,
    limit,
  }: Omit<AlertQuery, 'limit'> & { limit?: number },
  now: Date,
): Query {
  const bound = to?.toISOString() ?? '~';
  const before = after === undefined ? bound : lastBefore(listedAt(after));
  return {
    index: jobsByCaller.name,
    where: '#caller = :caller AND #listed_at <= :to',
    filter: [
      '(attribute_not_exists(#expires_at) OR #expires_at > :now)',
      ...(state === undefined ? [] : [`#status ${state === 'open' ? '=' : '<>'} :open`]),
      ...(from === undefined ? [] : ['#status >= :from']),
      ...(watchId === undefined ? [] : ['begins_with(#policy, :watch)']),
      ...(conditionId === undefined ? [] : ['contains(#policy, :condition)']),
    ].join(' AND '),
    values: {
      ':caller': `${alertsOfCaller}${caller}`,
      ':to': before < bound ? before : bound,
      ':now': now.toISOString(),
      ...(state !== undefined && { ':open': 'open' }),
      ...(from !== undefined && { ':from': from.toISOString() }),
      ...(watchId !== undefined && { ':watch': `${watchId}#` }),
      ...(conditionId !== undefined && { ':condition': `#${conditionId}#` }),
    },
    newestFirst: true,
    ...(limit !== undefined && { limit }),
  };
}

function listedAt({ opened_at: openedAt, alert_id: alertId }: Pick<Alert, 'opened_at' | 'alert_id'>): string {
  return `${openedAt}#${alertId}`;
}

/**
 * Returns the last text of this length before `text`: a key condition has no exclusive upper bound beside a lower one.
 */
function lastBefore(text: string): string {
  return `${text.slice(0, -1)}${String.fromCharCode(text.charCodeAt(text.length - 1) - 1)}`;
}
