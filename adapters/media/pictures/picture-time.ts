import { createHash } from 'node:crypto';
import { parseHttpDate } from '../../../core/outside-time.ts';
import type { Capture } from '../../../core/records/capture.ts';

type Headers = Readonly<Record<string, string>>;

/** Maximum plausible age of a picture that is captured, in milliseconds. Some servers state the time of their start instead. */
const plausibleMs = 60 * 60_000;
/** Assumed time between new pictures, in seconds: many cameras of places and weather have one per minute. */
const usualSeconds = 60;
const maxSeconds = 3600;
const staleAfterPictures = 3;

/** Returns the time of a picture by `Last-Modified`, compared with the clock of its server; `now` without one or if it is implausible. */
export function pictureTime(headers: Headers, now: Date): Date {
  const ageMs = readAgeMs(headers, now);
  return ageMs >= 0 && ageMs <= plausibleMs ? new Date(now.getTime() - ageMs) : now;
}

/** Returns the age of a picture in hours if its server states more than one hour, and more than three times its `max-age`; else undefined. */
export function staleHours(headers: Headers, now: Date): number | undefined {
  const ageMs = readAgeMs(headers, now);
  const isStale = ageMs > Math.max(plausibleMs, staleAfterPictures * readMaxAge(headers) * 1000);
  return isStale ? Math.round(ageMs / 3_600_000) : undefined;
}

function readAgeMs(headers: Headers, now: Date): number {
  const changedMs = parseHttpDate(headers['last-modified'] ?? '');
  return changedMs === undefined ? 0 : (parseHttpDate(headers['date'] ?? '') ?? now.getTime()) - changedMs;
}

/** Returns the position of a single picture: the same bytes are the same picture. A `max-age` above the usual time is the time between new ones. */
export function picturePosition(
  jpeg: Uint8Array,
  headers: Headers,
): Pick<Capture, 'position' | 'isIntervalAssumed'> {
  const seconds = Math.min(readMaxAge(headers), maxSeconds);
  const segment = createHash('sha256').update(jpeg).digest('hex').slice(0, 16);
  return seconds > usualSeconds
    ? { position: { segment, segment_seconds: seconds } }
    : { position: { segment, segment_seconds: usualSeconds }, isIntervalAssumed: true };
}

function readMaxAge(headers: Headers): number {
  const [, age = '0'] = /max-age=(\d{1,9})/.exec(headers['cache-control'] ?? '') ?? [];
  return Number(age);
}
