const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/**
 * Texts that a state may have: ids, keys of objects, times, positions in a stream, single words such as names of states
 * and errors.
 */
const allowed = [
  new RegExp(`^${uuid}(?:-\\d+)?$`),
  new RegExp(`^captures/${uuid}/[\\w-]{1,80}(?:\\.\\w{3,4})?$`),
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  /^[A-Za-z_]+(?:\.[A-Za-z_]+)*$/,
  // Position in a stream: media sequence numbers, hashes and times.
  /^[\w:./-]{1,120}$/,
  /^(?:-|[\da-f:]+)(?: [\da-f:]+)*$/,
  /^$/,
];
const maxLength = 200;

/**
 * Returns the paths of all values that are more than ids, times and numbers, in what an execution or a state received
 * or returned. Texts of JSON are parsed.
 */
export function findForeignValues(value: unknown, path = '$'): string[] {
  if (typeof value === 'string') return isJson(value) ? findForeignValues(JSON.parse(value), path) : check();
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => findForeignValues(inner, `${path}.${name}`));

  function check(): string[] {
    const text = String(value);
    const isAllowed = text.length <= maxLength && allowed.some((pattern) => pattern.test(text));
    return isAllowed ? [] : [`${path}: ${text.slice(0, 60)}`];
  }
}

function isJson(text: string): boolean {
  return /^[{[]/.test(text);
}
