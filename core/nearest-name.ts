/** Returns the name that differs least from `name`, by at most two inserted, lost, changed or swapped characters. */
export function findNearestName(name: string, names: readonly string[]): string | undefined {
  const maxDistance = name.length < 4 ? 1 : 2;
  const scored = names.map((candidate) => ({ candidate, distance: countEdits(name, candidate) }));
  const [best] = scored.toSorted((a, b) => a.distance - b.distance);
  return best && best.distance <= maxDistance ? best.candidate : undefined;
}

/** Counts the edits between two texts, a swap of neighbors as one (optimal string alignment); case does not count. */
function countEdits(first: string, second: string): number {
  const [a, b] = [first.toLowerCase(), second.toLowerCase()];
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const edits = [
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        ...(isSwap ? [(before[j - 2] ?? 0) + 1] : []),
      ];
      next.push(Math.min(...edits));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
