/**
 * Divides a load that is `need` times what a machine can do. Returns the factors by which callers have to take less, above 1 only: each may take an
 * equal share, and what others leave of theirs.
 */
export function divideLoad(loads: ReadonlyMap<string, number>, need: number): Map<string, number> {
  const smallestFirst = [...loads].toSorted(([, one], [, other]) => one - other);
  let left = smallestFirst.reduce((sum, [, load]) => sum + load, 0) / need;
  const factors = new Map<string, number>();
  for (const [index, [caller, load]] of smallestFirst.entries()) {
    const share = left / (smallestFirst.length - index);
    if (load > share) factors.set(caller, load / share);
    left -= Math.min(load, share);
  }
  return factors;
}
