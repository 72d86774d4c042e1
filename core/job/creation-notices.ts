import type { DigestConfig, MonitorConfig } from '../records/job.ts';
import type { DigestRequest } from '../requests/live-digest.ts';
import type { MonitorRequest } from '../requests/live-monitor.ts';
import { describeIgnored } from '../requests/unknown-fields.ts';
import type { UnknownField } from '../requests/unknown-fields.ts';

/** Describes where a monitor differs from its request, one sentence each. */
export function monitorNotices(
  request: MonitorRequest,
  config: MonitorConfig,
  unknown: readonly UnknownField[],
): string[] {
  return [
    limitNotice(request.monitor_duration_seconds, config.monitor_duration_seconds),
    request.condition.trim() === ''
      ? 'The condition is blank: describe what the check searches for.'
      : undefined,
    describeIgnored(unknown),
  ].filter((notice) => notice !== undefined);
}

/** Describes where a digest differs from its request, one sentence each. */
export function digestNotices(
  { max_windows: maxWindows, window_minutes: windowMinutes }: DigestRequest,
  config: DigestConfig,
  unknown: readonly UnknownField[],
): string[] {
  const wantedSeconds = maxWindows === null ? 0 : maxWindows * windowMinutes * 60;
  return [limitNotice(wantedSeconds, config.digest_duration_seconds), describeIgnored(unknown)].filter(
    (notice) => notice !== undefined,
  );
}

function limitNotice(wantedSeconds: number, allowedSeconds: number): string | undefined {
  return wantedSeconds > allowedSeconds ? `Limited to ${allowedSeconds} s by this server.` : undefined;
}
