import type { DeviceCalls } from './device-calls.ts';
import { findElement, findText } from './xml.ts';

/** Times that WS-Security can state, which is in years of four digits. */
const [earliestMs, latestMs] = [0, Date.UTC(9999)];

/** Returns by how many seconds the clock of a device is ahead; null if it does not state a usable time. Some devices state their local time only. */
export async function readClockOffset(
  calls: DeviceCalls,
  device: URL,
  now: () => Date,
): Promise<number | null> {
  const response = await calls.tryUnsigned(device, {
    namespace: 'http://www.onvif.org/ver10/device/wsdl',
    name: 'GetSystemDateAndTime',
  });
  const times = response === null ? undefined : findElement(response, 'SystemDateAndTime');
  const time = findElement(times, 'UTCDateTime') ?? findElement(times, 'LocalDateTime');
  const [year, month, day, hour, minute, second] = [
    ['Date', 'Year'],
    ['Date', 'Month'],
    ['Date', 'Day'],
    ['Time', 'Hour'],
    ['Time', 'Minute'],
    ['Time', 'Second'],
  ].map((path) => Number(findText(time, ...path) ?? Number.NaN));
  const stated = Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second);
  const isUsable = stated >= earliestMs && stated < latestMs;
  return isUsable ? Math.round((stated - now().getTime()) / 1000) : null;
}
