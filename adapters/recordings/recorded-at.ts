import { parseIsoTime } from '../../core/outside-time.ts';

/**
 * Returns the start of a recording by its path, or `undefined` if the path has no time. Understands Frigate's folders
 * (`recordings/2026-11-20/14/front_door/35.12.mp4`, UTC: https://docs.frigate.video/configuration/record/) and file names that
 * contain a date and a time (`2026-11-20_14-35-12.mp4`, `cam1_20261120T143512.ts`, `20261120143512.mkv`).
 */
export function recordedAt(path: string): Date | undefined {
  const frigate = /(\d{4}-\d{2}-\d{2})\/(\d{2})\/[^/]+\/(\d{2})\.(\d{2})\.[a-z0-9]+$/i.exec(path);
  if (frigate) return parsed(`${frigate[1]}T${frigate[2]}:${frigate[3]}:${frigate[4]}Z`);
  const name = /(\d{4})-?(\d{2})-?(\d{2})[T_\- ]?(\d{2})[-:._]?(\d{2})[-:._]?(\d{2})/.exec(
    path.slice(path.lastIndexOf('/') + 1),
  );
  if (!name) return undefined;
  const [, year, month, day, hour, minute, second] = name;
  return parsed(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Returns the camera of a file in Frigate's folders. */
export function recordedCamera(path: string): string | undefined {
  return /\d{4}-\d{2}-\d{2}\/\d{2}\/([^/]+)\/\d{2}\.\d{2}\.[a-z0-9]+$/i.exec(path)?.[1];
}

function parsed(text: string): Date | undefined {
  const atMs = parseIsoTime(text);
  // An impossible date, such as the digits of a serial number, is no time.
  return atMs === undefined || atMs < Date.UTC(1990) ? undefined : new Date(atMs);
}
