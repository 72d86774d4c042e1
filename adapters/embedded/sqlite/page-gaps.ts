/** Sizes and flags of a page of a B-tree (sqlite.org/fileformat2.html#b_tree_pages). */
const treePages = new Map([
  [0x02, 12],
  [0x05, 12],
  [0x0a, 8],
  [0x0d, 8],
]);
const fileHeaderBytes = 100;
/**
 * Bytes of an entry of a page that says where pages belong; such a page follows each group of pages of as many as it
 * has entries.
 */
const entryBytes = 5;

/**
 * Overwrites what a page holds between the list of its rows and the first of them. SQLite leaves copies there of rows
 * that it has moved to another page, and never reads them. Returns true if the page has changed. `number` counts from
 * 1.
 */
export function clearGap(page: Buffer, number: number): boolean {
  if (isPointerMap(number, page.length)) return false;
  const headerAt = number === 1 ? fileHeaderBytes : 0;
  const headerBytes = treePages.get(page[headerAt] ?? 0);
  if (headerBytes === undefined) return false;
  const begin = headerAt + headerBytes + 2 * page.readUInt16BE(headerAt + 3);
  const end = page.readUInt16BE(headerAt + 5) || 65_536;
  if (end > page.length || begin >= end) return false;
  const gap = page.subarray(begin, end);
  if (gap.every((byte) => byte === 0)) return false;
  gap.fill(0);
  return true;
}

function isPointerMap(number: number, pageBytes: number): boolean {
  return number > 1 && (number - 2) % (Math.floor(pageBytes / entryBytes) + 1) === 0;
}
