/** Times in texts of strangers. `Date.parse` reads any text as some time: "40.5" is a day of the year 2040. */

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const httpDate =
  /^[a-z]{3,9},? (?:(\d{1,2})[ -]([a-z]{3})[ -](\d{4}|\d{2})|([a-z]{3}) +(\d{1,2})) (\d{1,2}):(\d{2}):(\d{2})(?: (\d{4})| (?:GMT|UTC))?$/i;

/** Parses an HTTP date in its three forms (RFC 9110 section 5.6.7) and of cookies, in milliseconds since 1970. */
export function parseHttpDate(text: string): number | undefined {
  const parts = httpDate.exec(text.trim().slice(0, 64));
  if (!parts) return undefined;
  const [, day, month, year, oldMonth, oldDay, hours, minutes, seconds, oldYear] = parts;
  const name = (month ?? oldMonth ?? '').toLowerCase();
  const written = Number(year ?? oldYear);
  const full = written < 70 ? written + 2000 : written < 100 ? written + 1900 : written;
  const number = months.findIndex((each) => each.toLowerCase() === name);
  const ms = Date.UTC(full, number, Number(day ?? oldDay), Number(hours), Number(minutes), Number(seconds));
  return number === -1 || Number.isNaN(ms) ? undefined : ms;
}

/**
 * Parses a date with a time of day and perhaps a zone (ISO 8601), in milliseconds since 1970. Without a zone it is UTC.
 */
export function parseIsoTime(text: string): number | undefined {
  const parts = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\d*(Z|[+-]\d\d(?::?\d\d)?)?$/i.exec(
    text.trim().slice(0, 64),
  );
  if (!parts) return undefined;
  const [, date, time, fraction = '0', zone = 'Z'] = parts;
  const [, hours, minutes = '00'] = /^([+-]\d\d):?(\d\d)?$/.exec(zone) ?? [];
  const ms = Date.parse(
    `${date}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}${hours ? `${hours}:${minutes}` : 'Z'}`,
  );
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * Returns the seconds that a `Retry-After` requests: seconds, also with a fraction, a unit or quotes, or a date, of
 * HTTP (RFC 9110 section 10.2.3) or of ISO
 * 8601. The first of several counts. Returns undefined if it is absent or malformed.
 */
export function parseRetryAfter(value: string | null, now: Date): number | undefined {
  if (value === null) return undefined;
  const text = value.trim().replace(/^"(.*)"$/, '$1');
  const [, seconds] = /^(\d+(?:\.\d*)?)(?: ?s(?:ec(?:ond)?s?)?)?\s*(?:[,;]|$)/i.exec(text) ?? [];
  if (seconds !== undefined) return Number(seconds);
  const time = parseHttpDate(/^[a-z]+,? [^,;]*/i.exec(text)?.[0] ?? '') ?? parseIsoTime(text);
  return time === undefined ? undefined : Math.max(0, (time - now.getTime()) / 1000);
}
