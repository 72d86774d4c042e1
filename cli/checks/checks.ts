import { statfs } from 'node:fs/promises';
import { isLoopback, toHostname } from '../../adapters/http/guard-host.ts';
import type { LocatedFfmpeg } from '../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { about, type Finding, type MediaUse } from '../../core/ports/observability.ts';
import type { WatchNumbers } from '../../core/observability/metrics.ts';
import { longestBeforeOpening } from '../../core/policies/watch/clip-begin.ts';
import { isOver } from '../../core/time.ts';
import type { PaceReading } from '../../core/ports/pace.ts';
import { reservedBytes } from '../service/maintenance.ts';
import type { Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';

/** Checks of the machine and the settings, for the start, `/healthz?deep` and `watchpost doctor`. */

export function ffmpegFinding({ version, source }: Pick<LocatedFfmpeg, 'version' | 'source'>): Finding {
  return about('ffmpeg').ok(`${version} (${source})`);
}

const gigabyte = 1e9;
/** A day of evidence of ten jobs takes less than the first, the database of an hour less than the second. */
const minFreeBytes = { warning: 2 * gigabyte, failed: reservedBytes };

/** File systems whose locks and flushes depend on another machine, by their number in statfs(2). */
const networkFileSystems = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x00c36400, 'CephFS'],
]);

/** Used part of `statfs`. */
export type FileSystem = { type: number; bavail: number; bsize: number };

/** Returns free space and kind of the disk below a folder that exists. */
export async function diskFinding(
  folder: string,
  read: (path: string) => Promise<FileSystem> = statfs,
): Promise<Finding> {
  const { ok, warning, failed } = about('disk');
  const disk = await read(folder).catch(() => undefined);
  if (disk === undefined)
    return failed(
      'the data directory cannot be read',
      'Set --data-dir or WATCHPOST_DATA_DIR to a directory that this user can write.',
      folder,
    );
  const free = toFreeBytes(disk);
  const message = `${(free / gigabyte).toFixed(1)} GB free`;
  const more = 'Free space on the disk of the data directory';
  if (free < minFreeBytes.failed)
    return failed(message, `${more}: meanwhile pictures of moments are removed.`, folder);
  if (free < minFreeBytes.warning) return warning(message, `${more}.`, folder);
  const network = networkFileSystems.get(disk.type);
  if (network !== undefined)
    return warning(
      `${message}, on a network or user-space file system (${network})`,
      'Use a directory on a local disk: over a network, locks and flushes can fail, which damages the database.',
      folder,
    );
  return ok(message, folder);
}

/** Returns the free space of the disk below a folder, in bytes. */
export async function readFreeBytes(folder: string): Promise<number> {
  return toFreeBytes(await statfs(folder));
}

function toFreeBytes({ bavail, bsize }: Pick<FileSystem, 'bavail' | 'bsize'>): number {
  return bavail * bsize;
}

/** Earliest plausible time: Watchpost did not exist before. */
const minTime = Date.UTC(2026, 0, 1);
/** Tolerated difference between the clock and the newest stored time, in milliseconds. */
const maxBehindMs = 60_000;

/** Compares the clock with the newest stored time, if there is one. */
export function clockFinding(now: Date, newestEntry: Date | undefined): Finding {
  const behindMs = newestEntry === undefined ? 0 : newestEntry.getTime() - now.getTime();
  const next = 'Set the clock, and let a time service keep it: timedatectl set-ntp true.';
  const message = now.toISOString();
  if (now.getTime() < minTime) return about('clock').failed(`${message} is in the past`, next);
  if (behindMs > maxBehindMs)
    return about('clock').warning(
      `${message} is ${Math.round(behindMs / 1000)} s before the newest stored time`,
      next,
    );
  return about('clock').ok(message);
}

/** Describes what the memory for clips carries. */
export function clipFinding({ clipMb }: Pick<Settings, 'clipMb'>): Finding {
  const seconds = longestBeforeOpening(defaultClipSeconds) + defaultClipSeconds + secondsUntilDecided;
  const streams = Math.floor((clipMb * 8) / (usualMbit * seconds));
  const message =
    clipMb === 0
      ? 'no clips of alerts'
      : `${clipMb} MB: ${streams} streams of ${usualMbit} Mbit/s in full, of more their newest seconds`;
  return about('clips').ok(message);
}

/** Rate of a camera, the default of a clip after an opening, and the time of an interval. */
const usualMbit = 4;
const defaultClipSeconds = 8;
const secondsUntilDecided = 10;

/** Describes the networks that can reach the port of the service. */
export function portsFinding({ host, publicUrl }: Settings, port: number): Finding {
  const isLocal = isLoopback(toHostname(`http://${host.includes(':') ? `[${host}]` : host}`));
  if (isLocal || publicUrl.startsWith('https://'))
    return about('ports').ok(`listens on port ${port}${isLocal ? ', for this machine only' : ''}`);
  return about('ports').warning(
    `listens on port ${port} for other machines, without TLS`,
    'Use a reverse proxy with TLS and WATCHPOST_PUBLIC_URL, unless the network is trusted: keys are sent as plain text.',
  );
}

/** Describes the private addresses that the egress guard permits. */
export function guardFinding({ allowRanges, allowWebhookRanges }: Settings): Finding {
  const opened = [
    ...(allowRanges.length > 0 ? [`streams also from ${allowRanges.join(', ')}`] : []),
    ...(allowWebhookRanges.length > 0 ? [`webhooks also to ${allowWebhookRanges.join(', ')}`] : []),
  ];
  if (opened.length === 0)
    return about('guard').ok(
      'public addresses only',
      'WATCHPOST_ALLOW_RANGES adds private ranges, for cameras at home',
    );
  const isWide = [...allowRanges, ...allowWebhookRanges].some((range) => Number(range.split('/')[1]) === 0);
  const detail = `${opened.join(', ')}: any caller with a key can reach them`;
  return isWide
    ? about('guard').warning('all addresses', 'Allow the addresses of cameras and receivers only.', detail)
    : about('guard').ok('public addresses and private ranges', detail);
}

/** Reports watches that do not watch, check late or cannot reach a destination. */
export function watchesFinding({ active, off_schedule, ...trouble }: WatchNumbers): Finding {
  const { ok, warning } = about('watches');
  const { stream_lost, budget_exhausted, late, unjudged, destinations_failing: unreached } = trouble;
  const total = active + off_schedule + stream_lost + budget_exhausted;
  const parts = [
    ...(stream_lost > 0 ? [`${stream_lost} without stream`] : []),
    ...(budget_exhausted > 0 ? [`${budget_exhausted} without budget`] : []),
    ...(late > 0 ? [`${late} late`] : []),
    ...(unjudged > 0 ? [`${unjudged} without verdicts`] : []),
    ...(unreached > 0 ? [`${unreached} with a failing destination`] : []),
  ];
  if (parts.length === 0) return ok(`${total} not paused, ${active} active`);
  return warning(
    `${total} not paused: ${parts.join(', ')}`,
    'Open Watches in the console or run watchpost watch list, which name the causes.',
  );
}

/** Reports evidence that was removed before its time within the last day. */
export function mediaFinding(use: MediaUse, now: Date): Finding {
  const { ok, warning } = about('media');
  const { evidence_removed_at: removedAt, evidence_removed: count } = use;
  const isRecent = removedAt !== null && !isOver(removedAt, warnedSeconds, now);
  const [held, most] = [use.bytes, use.max_bytes].map((bytes) => Math.round((bytes ?? 0) / 1e6));
  const size = use.max_bytes === null ? `${held} MB, without a maximum` : `${held} of ${most} MB`;
  if (!isRecent) return ok(size);
  return warning(
    `${count} pictures of alerts were removed before their time, the last at ${removedAt.toISOString()}`,
    'Raise WATCHPOST_MEDIA_MB, or shorten retention_days or memory_days of watches.',
  );
}

const warnedSeconds = 86_400;

/** Reports an overload: intervals of all jobs are stretched, and new jobs are refused. */
export function loadFinding({ lateSeconds, stretch }: PaceReading): Finding {
  const { ok, warning } = about('load');
  if (stretch === 1) return ok('checks are in time');
  return warning(
    `checks are late by ${lateSeconds.toFixed(1)} s; intervals are stretched by up to ${Math.round((stretch - 1) * 100)} %`,
    'End jobs, give them longer intervals, or run Watchpost on a machine with more processor cores.',
  );
}

/** Returns the lines of a finding for the terminal: its result, and the next step if there is one. */
export function formatFinding(
  { check, status, message, next, detail }: Finding,
  color: Terminal['color'],
): string[] {
  const mark =
    status === 'failed' ? color.red('FAILED ') : status === 'warning' ? color.yellow('WARNING ') : '';
  const line = `  ${check.padEnd(9)} ${mark}${message}${detail === undefined ? '' : ` (${detail})`}`;
  return next === null ? [line] : [line, `            ${next}`];
}
