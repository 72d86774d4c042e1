import type { z } from 'zod';
import type { WatchRun } from '../records/run.ts';
import type { AlertClip } from '../records/clip.ts';
import type { Alert, ConditionState } from '../records/watch-state.ts';
import type { alertResponseSchema, watchResponseSchema } from '../responses/watches.ts';
import { maskUrl } from '../stream/mask-url.ts';
import { findLoss } from '../sight/trouble.ts';
import { afterTimeWithoutSight, isUnjudgeable } from '../policies/watch/condition.ts';
import { shortestVisitOfWatch } from '../policies/watch/shortest-visit-of-watch.ts';
import { ageSeconds } from '../time.ts';
import type { Watch } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import type { watchEventResponseSchema } from '../responses/watch-events.ts';

export type PresentedWatch = z.input<typeof watchResponseSchema>;

/** Returns a watch as responses show it at `now`: its conditions age between ticks too, which can be hours apart. */
export function presentWatch(watch: WatchRun, now: Date): PresentedWatch {
  const { state, sight } = watch;
  const { interval_seconds: intervalSeconds } = watch.config;
  return {
    watch_id: watch.run_id,
    ...watch.config,
    status: watch.status,
    config_version: watch.config_version,
    created_at: watch.created_at,
    updated_at: watch.updated_at,
    stream_url: maskUrl(watch.stream_url),
    stream_fingerprint: watch.stream_fingerprint,
    state: {
      causes: { ...state.causes, stream_lost: findLoss(sight) },
      conditions: state.conditions.map((condition) =>
        presentCondition(afterTimeWithoutSight(condition, intervalSeconds, now)),
      ),
      last_check: watch.last_tick,
      last_frame_at: sight.last_frame?.captured_at ?? null,
      shortest_visit_seconds: shortestVisitOfWatch(watch),
      next_check_at: watch.next === null || watch.next.done ? null : watch.next.wait_until,
      late_since: state.health.late_since,
      view_changed_since: state.health.view?.other?.told ? state.health.view.other.since : null,
      destinations_failing: state.health.failing,
      model_failure: sight.model_trouble?.failure ?? null,
      budget: watch.config.budget &&
        state.budget && {
          day: state.budget.day,
          model_calls: state.budget.calls,
          usd: state.budget.unpriced_calls > 0 ? null : state.budget.micro_usd / 1_000_000,
        },
    },
  };
}

function presentCondition(condition: ConditionState): PresentedWatch['state']['conditions'][number] {
  const {
    condition_id,
    phase,
    alert,
    holding,
    seen_at,
    last_opened_at,
    snoozed_until,
    snoozes = [],
  } = condition;
  return {
    condition_id,
    state: phase,
    unconfirmed: alert?.unconfirmed ?? false,
    unjudged: isUnjudgeable(condition),
    alert_id: alert?.alert_id ?? null,
    opened_at: alert?.opened_at ?? null,
    holding_since: holding?.since ?? null,
    held_at: alert?.held_at ?? null,
    seen_at,
    last_opened_at,
    explanation: alert?.explanation ?? null,
    snoozed_until,
    snoozes,
  };
}

/** Returns an alert as responses show it. */
export function presentAlert(
  stored: Alert,
  { baseUrl, now }: { baseUrl: string; now: () => Date },
): z.input<typeof alertResponseSchema> {
  const {
    caller: _,
    seen_from: __,
    behind_seconds: ___,
    frame_key: frameKey,
    clip,
    closed,
    ...alert
  } = stored;
  return {
    ...alert,
    state: closed === null ? 'open' : 'closed',
    open_seconds: closed?.open_seconds ?? ageSeconds(alert.opened_at, now()),
    closed: closed && withoutFrame(closed),
    frame_url: frameKey === null ? null : `${baseUrl}/alerts/${alert.alert_id}/frame`,
    clip: clip ? presentClip(clip, alert.alert_id, baseUrl) : null,
  };
}

function presentClip({ clip_key: key, ...clip }: AlertClip, alertId: string, baseUrl: string) {
  return { ...clip, clip_url: clipLink(key, alertId, baseUrl) };
}

function withoutFrame(stored: NonNullable<Alert['closed']>) {
  const { frame_key: _, ...closed } = stored;
  return closed;
}

export type PresentedWatchEvent = z.input<typeof watchEventResponseSchema>;

/** Returns an event of a watch for a page of the log or an event stream. Images are links. */
export function presentWatchEvent(watch: Watch, event: WatchEvent, baseUrl: string): PresentedWatchEvent {
  const shared = { timestamp: event.timestamp, source_url: findSourceUrl(watch, event) };
  const { watch_id, watch_name, sequence, labels } = event;
  const position = { watch_id, watch_name, sequence, labels };
  switch (event.type) {
    case 'alert_opened': {
      const { frame_key: key, ...data } = event.data;
      return {
        type: event.type,
        ...shared,
        data: { ...position, ...data, frame_url: link(key, data.alert_id) },
      };
    }
    case 'alert_reminder': {
      const { frame_key: key, ...data } = event.data;
      return {
        type: event.type,
        ...shared,
        data: { ...position, ...data, frame_url: link(key, data.alert_id) },
      };
    }
    case 'alert_closed': {
      const { frame_key: key, ...data } = event.data;
      const url = link(key, data.alert_id, '?moment=closed');
      return { type: event.type, ...shared, data: { ...position, ...data, frame_url: url } };
    }
    case 'alert_acknowledged':
      return { type: event.type, ...shared, data: { ...position, ...event.data } };
    case 'alert_clip': {
      const { clip_key: key, opening: _, ...data } = event.data;
      return {
        type: event.type,
        ...shared,
        data: { ...position, ...data, clip_url: clipLink(key, data.alert_id, baseUrl) },
      };
    }
    case 'stream_lost':
      return { type: event.type, ...shared, data: { ...position, ...event.data } };
    case 'stream_recovered':
      return { type: event.type, ...shared, data: { ...position, ...event.data } };
    case 'watch_changed':
      return { type: event.type, ...shared, data: { ...position, ...event.data } };
    case 'progress':
      return { type: event.type, ...shared, data: { ...position, ...event.data } };
  }

  function link(key: string | null, alertId: string, query = ''): string | null {
    return key === null ? null : `${baseUrl}/alerts/${alertId}/frame${query}`;
  }
}

/** Returns the URL of the clip of an alert; `null` without one. */
function clipLink(key: string | null, alertId: string, baseUrl: string): string | null {
  return key === null ? null : `${baseUrl}/alerts/${alertId}/clip`;
}

/** Returns the masked URL of the stream at the time of an event. */
export function findSourceUrl(
  { stream_url: present, former_streams: former = [] }: Watch,
  { sequence }: Pick<WatchEvent, 'sequence'>,
): string {
  const configuration = former.find(({ last_sequence: last }) => sequence <= last);
  return maskUrl(configuration?.stream_url ?? present);
}
