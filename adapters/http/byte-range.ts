/** Range of a response, first and last byte included. */
type Range = { first: number; last: number };

/**
 * Returns bytes as a response that serves a range (RFC 9110, 14). Several ranges, and what is no range of bytes, are answered by the whole, as is permitted. One
 * beyond the end has 416.
 */
export function rangeResponse(
  bytes: Uint8Array,
  rangeHeader: string | undefined,
  headers: Record<string, string>,
): Response {
  const range = parseRange(rangeHeader, bytes.length);
  const shared = { ...headers, 'Accept-Ranges': 'bytes' };
  if (range === 'whole') return new Response(new Uint8Array(bytes), { headers: shared });
  if (range === 'unsatisfiable')
    return new Response(null, { status: 416, headers: { 'Content-Range': `bytes */${bytes.length}` } });
  const { first, last } = range;
  return new Response(new Uint8Array(bytes.subarray(first, last + 1)), {
    status: 206,
    headers: { ...shared, 'Content-Range': `bytes ${first}-${last}/${bytes.length}` },
  });
}

function parseRange(header: string | undefined, length: number): Range | 'whole' | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  const first = from === '' ? Math.max(0, length - Number(to)) : Number(from);
  const last = from === '' || to === '' ? length - 1 : Math.min(Number(to), length - 1);
  if (from !== '' && to !== '' && Number(to) < first) return 'whole';
  return first < length ? { first, last } : 'unsatisfiable';
}
