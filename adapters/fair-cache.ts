/**
 * Cache that callers share fairly: each sees its own entries only, and what does not fit is removed from the caller
 * that holds most, its least recently used entry first. So a caller with many entries never costs another one.
 */
export type FairCache<Key, Value> = {
  get(caller: string, key: Key): Value | undefined;
  set(caller: string, key: Key, value: Value): void;
  delete(caller: string, key: Key): Value | undefined;
  values(): Iterable<Value>;
  size(): number;
};

type Entry<Value> = { value: Value; size: number };
type Holder<Key, Value> = { entries: Map<Key, Entry<Value>>; size: number };

/** Creates a cache of the size `max`. Size of an entry: 1 by default. One that is larger than `max` is not kept. */
export function createFairCache<Key, Value>({
  max,
  sizeOf = () => 1,
  onEvict = () => undefined,
}: {
  max: number;
  sizeOf?: (value: Value, key: Key) => number;
  /** Called with what did not fit. */
  onEvict?: (value: Value) => void;
}): FairCache<Key, Value> {
  const holders = new Map<string, Holder<Key, Value>>();
  let total = 0;
  return {
    get: (caller, key) => {
      const entries = holders.get(caller)?.entries;
      const entry = entries?.get(key);
      if (entry === undefined) return undefined;
      entries?.delete(key);
      entries?.set(key, entry);
      return entry.value;
    },
    set: (caller, key, value) => {
      remove(caller, key);
      const size = sizeOf(value, key);
      if (size > max) return onEvict(value);
      const holder = holders.get(caller) ?? { entries: new Map<Key, Entry<Value>>(), size: 0 };
      holders.set(caller, holder);
      holder.entries.set(key, { value, size });
      holder.size += size;
      total += size;
      removeBeyond();
    },
    delete: remove,
    values: function* () {
      for (const { entries } of holders.values()) for (const { value } of entries.values()) yield value;
    },
    size: () => total,
  };

  function remove(caller: string, key: Key): Value | undefined {
    const holder = holders.get(caller);
    const entry = holder?.entries.get(key);
    if (holder === undefined || entry === undefined) return undefined;
    holder.entries.delete(key);
    holder.size -= entry.size;
    total -= entry.size;
    if (holder.entries.size === 0) holders.delete(caller);
    return entry.value;
  }

  /** Removes what does not fit. */
  function removeBeyond(): void {
    while (total > max) {
      const caller = findLargest(holders) ?? '';
      for (const [key, { value }] of holders.get(caller)?.entries ?? []) {
        remove(caller, key);
        onEvict(value);
        break;
      }
    }
  }
}

/** Returns who holds most. Undefined without a holder. */
export function findLargest<Name>(holders: ReadonlyMap<Name, { size: number }>): Name | undefined {
  let largest: { holder: Name; size: number } | undefined;
  for (const [holder, { size }] of holders)
    if (largest === undefined || size > largest.size) largest = { holder, size };
  return largest?.holder;
}

/**
 * Returns the place that a caller may take when none is left: the first free one of the caller with the most, if that
 * has at least two more. So nobody with few places has to give one up, and two callers with as many do not take each
 * other's.
 */
export function findDisplaced<Place extends { caller: string }>(
  places: Iterable<Place>,
  caller: string,
  isFree: (place: Place) => boolean = () => true,
): Place | undefined {
  const holders = Map.groupBy(places, (place) => place.caller);
  const counts = new Map([...holders].map(([holder, { length: size }]) => [holder, { size }]));
  const largest = holders.get(findLargest(counts) ?? '') ?? [];
  return largest.length > (holders.get(caller)?.length ?? 0) + 1 ? largest.find(isFree) : undefined;
}
