import { slotsOfCaller } from './case.ts';

export type Caller = { key: string; free: number };

/**
 * Callers and their slots, so that cases run side by side within the limit of ten active jobs a caller. First come, first
 * served among those that fit.
 */
export function createPool(keys: readonly string[], atOnce: number) {
  const callers = keys.map((key) => ({ key, free: slotsOfCaller }));
  const waiting: { slots: number; resolve: (caller: Caller) => void }[] = [];
  let running = 0;

  return {
    callers,
    acquire: (slots: number): Promise<Caller> => {
      const { promise, resolve } = Promise.withResolvers<Caller>();
      waiting.push({ slots, resolve });
      serve();
      return promise;
    },
    release: (caller: Caller, slots: number): void => {
      caller.free += slots;
      running -= 1;
      serve();
    },
  };

  function serve(): void {
    for (const wish of waiting.slice()) {
      if (running >= atOnce) return;
      const caller = callers.toSorted((a, b) => b.free - a.free).find(({ free }) => free >= wish.slots);
      if (caller === undefined) continue;
      waiting.splice(waiting.indexOf(wish), 1);
      caller.free -= wish.slots;
      running += 1;
      wish.resolve(caller);
    }
  }
}
