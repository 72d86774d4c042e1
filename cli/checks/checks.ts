import { statfs } from 'node:fs/promises';
import { isLoopback, toHostname } from '../../adapters/http/guard-host.ts';
import type { LocatedFfmpeg } from '../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import type { Finding } from '../../core/ports/health.ts';
import type { WatchNumbers } from '../../core/observability/metrics.ts';
import type { MediaUse } from '../../core/ports/metrics.ts';
import { isOver } from '../../core/time.ts';
import type { PaceReading } from '../../core/ports/pace.ts';
import { reservedBytes } from '../service/maintenance.ts';
import type { Settings } from '../settings.ts';

/** Checks of the machine and the settings, for the start, `/healthz?deep` and `watchpost doctor`. */

export function ffmpegFinding({ version, source }: Pick<LocatedFfmpeg, 'version' | 'source'>): Finding {
  return { check: 'ffmpeg', status: 'ok', message: `${version} (${source})`, next: null };
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
  const check = 'disk';
  const disk = await read(folder).catch(() => undefined);
  if (disk === undefined)
    return {
      check,
      status: 'failed',
      message: 'the data directory cannot be read',
      next: 'Set --data-dir or WATCHPOST_DATA_DIR to a directory that this user can write.',
      detail: folder,
    };
  const free = toFreeBytes(disk);
  const message = `${(free / gigabyte).toFixed(1)} GB free`;
  if (free < minFreeBytes.warning)
    return {
      check,
      status: free < minFreeBytes.failed ? 'failed' : 'warning',
      message,
      next:
        free < minFreeBytes.failed
          ? 'Free space on the disk of the data directory: meanwhile pictures of moments are removed.'
          : 'Free space on the disk of the data directory.',
      detail: folder,
    };
  const network = networkFileSystems.get(disk.type);
  if (network !== undefined)
    return {
      check,
      status: 'warning',
      message: `${message}, on a network or user-space file system (${network})`,
      next: 'Use a directory on a local disk: over a network, locks and flushes can fail, which damages the database.',
      detail: folder,
    };
  return { check, status: 'ok', message, next: null, detail: folder };
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
  if (now.getTime() < minTime)
    return { check: 'clock', status: 'failed', message: `${message} is in the past`, next };
  if (behindMs > maxBehindMs)
    return {
      check: 'clock',
      status: 'warning',
      message: `${message} is ${Math.round(behindMs / 1000)} s before the newest stored time`,
      next,
    };
  return { check: 'clock', status: 'ok', message, next: null };
}

/** Describes what the memory for clips carries. */
export function clipFinding({ clipMb }: Pick<Settings, 'clipMb'>): Finding {
  const seconds = 2 * defaultClipSeconds + secondsUntilDecided;
  const streams = Math.floor((clipMb * 8) / (usualMbit * seconds));
  const message =
    clipMb === 0
      ? 'no clips of alerts'
      : `${clipMb} MB: ${streams} streams of ${usualMbit} Mbit/s in full, of more their newest seconds`;
  return { check: 'clips', status: 'ok', message, next: null };
}

/** Rate of a camera, the default of a clip before and after an opening, and the time of an interval. */
const usualMbit = 4;
const defaultClipSeconds = 8;
const secondsUntilDecided = 10;

/** Describes the networks that can reach the port of the service. */
export function portsFinding({ host, publicUrl }: Settings, port: number): Finding {
  const isLocal = isLoopback(toHostname(`http://${host.includes(':') ? `[${host}]` : host}`));
  if (isLocal || publicUrl.startsWith('https://'))
    return {
      check: 'ports',
      status: 'ok',
      message: `listens on port ${port}${isLocal ? ', for this machine only' : ''}`,
      next: null,
    };
  return {
    check: 'ports',
    status: 'warning',
    message: `listens on port ${port} for other machines, without TLS`,
    next: 'Use a reverse proxy with TLS and WATCHPOST_PUBLIC_URL, unless the network is trusted: keys are sent as plain text.',
  };
}

/** Describes the private addresses that the egress guard permits. */
export function guardFinding({ allowRanges, allowWebhookRanges }: Settings): Finding {
  const opened = [
    ...(allowRanges.length > 0 ? [`streams also from ${allowRanges.join(', ')}`] : []),
    ...(allowWebhookRanges.length > 0 ? [`webhooks also to ${allowWebhookRanges.join(', ')}`] : []),
  ];
  if (opened.length === 0)
    return {
      check: 'guard',
      status: 'ok',
      message: 'public addresses only',
      next: null,
      detail: 'WATCHPOST_ALLOW_RANGES adds private ranges, for cameras at home',
    };
  const isWide = [...allowRanges, ...allowWebhookRanges].some((range) => Number(range.split('/')[1]) === 0);
  return {
    check: 'guard',
    status: isWide ? 'warning' : 'ok',
    message: isWide ? 'all addresses' : 'public addresses and private ranges',
    next: isWide ? 'Allow the addresses of cameras and receivers only.' : null,
    detail: `${opened.join(', ')}: any caller with a key can reach them`,
  };
}

/** Reports watches that do not watch, check late or cannot reach a destination. */
export function watchesFinding({ active, off_schedule, ...trouble }: WatchNumbers): Finding {
  const check = 'watches';
  const { stream_lost, budget_exhausted, late, unjudged, destinations_failing: unreached } = trouble;
  const total = active + off_schedule + stream_lost + budget_exhausted;
  const parts = [
    ...(stream_lost > 0 ? [`${stream_lost} without stream`] : []),
    ...(budget_exhausted > 0 ? [`${budget_exhausted} without budget`] : []),
    ...(late > 0 ? [`${late} late`] : []),
    ...(unjudged > 0 ? [`${unjudged} without verdicts`] : []),
    ...(unreached > 0 ? [`${unreached} with a failing destination`] : []),
  ];
  if (parts.length === 0)
    return { check, status: 'ok', message: `${total} not paused, ${active} active`, next: null };
  return {
    check,
    status: 'warning',
    message: `${total} not paused: ${parts.join(', ')}`,
    next: 'Open Watches in the console or run watchpost watch list, which name the causes.',
  };
}

/** Reports evidence that was removed before its time within the last day. */
export function mediaFinding(use: MediaUse, now: Date): Finding {
  const check = 'media';
  const { evidence_removed_at: at, evidence_removed: count } = use;
  const isRecent = at !== null && !isOver(at, warnedSeconds, now);
  const [held, most] = [use.bytes, use.max_bytes].map((bytes) => Math.round((bytes ?? 0) / 1e6));
  const size = use.max_bytes === null ? `${held} MB, without a maximum` : `${held} of ${most} MB`;
  if (!isRecent) return { check, status: 'ok', message: size, next: null };
  return {
    check,
    status: 'warning',
    message: `${count} pictures of alerts were removed before their time, the last at ${at.toISOString()}`,
    next: 'Raise WATCHPOST_MEDIA_MB, or shorten retention_days or memory_days of watches.',
  };
}

const warnedSeconds = 86_400;

/** Reports an overload: intervals of all jobs are stretched, and new jobs are refused. */
export function loadFinding({ lateSeconds, stretch }: PaceReading): Finding {
  const check = 'load';
  if (stretch === 1) return { check, status: 'ok', message: 'checks are in time', next: null };
  return {
    check,
    status: 'warning',
    message: `checks are late by ${lateSeconds.toFixed(1)} s; intervals are stretched by up to ${Math.round((stretch - 1) * 100)} %`,
    next: 'End jobs, give them longer intervals, or run Watchpost on a machine with more processor cores.',
  };
}
