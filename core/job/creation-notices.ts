import type { DigestConfig, MonitorConfig } from '../records/job.ts';
import type { DigestRequest } from '../requests/live-digest.ts';
import type { MonitorRequest } from '../requests/live-monitor.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import { describeIgnored } from '../requests/unknown-fields.ts';
import type { UnknownField } from '../requests/unknown-fields.ts';

type Model = Pick<VisionModel, 'model' | 'reasonNotToJudge'>;

/** Describes where a monitor differs from its request, and what the model cannot judge, one sentence each. */
export function monitorNotices(
  request: MonitorRequest,
  config: MonitorConfig,
  vision: Model,
  unknown: readonly UnknownField[],
): string[] {
  return [
    limitNotice(request.monitor_duration_seconds, config.monitor_duration_seconds),
    conditionNotice(request.condition, vision),
    webhookEventsNotice(request),
    describeIgnored(unknown),
  ].filter((notice) => notice !== undefined);
}

/** Describes where a digest differs from its request, one sentence each. */
export function digestNotices(
  request: DigestRequest,
  config: DigestConfig,
  unknown: readonly UnknownField[],
): string[] {
  const { max_windows: maxWindows, window_minutes: windowMinutes } = request;
  const wantedSeconds = maxWindows === null ? 0 : maxWindows * windowMinutes * 60;
  return [
    limitNotice(wantedSeconds, config.digest_duration_seconds),
    webhookEventsNotice(request),
    describeIgnored(unknown),
  ].filter((notice) => notice !== undefined);
}

function webhookEventsNotice({
  webhook_url: url,
  webhook_events: events,
}: MonitorRequest | DigestRequest): string | undefined {
  return events && !url ? 'webhook_events has no effect without webhook_url.' : undefined;
}

function limitNotice(wantedSeconds: number, allowedSeconds: number): string | undefined {
  return wantedSeconds > allowedSeconds ? `Limited to ${allowedSeconds} s by this server.` : undefined;
}

function conditionNotice(condition: string, { model, reasonNotToJudge }: Model): string | undefined {
  if (condition.trim() === '') return 'The condition is blank: describe what the check searches for.';
  const reason = reasonNotToJudge?.(condition);
  if (reason === undefined) return undefined;
  return `The model ${model} cannot judge this condition, so no check alerts: ${reason}.`;
}
