import { slotsOfCaller } from './case.ts';

export type Caller = { key: string; free: number; cases: number };

/**
 * Creates a pool of callers and slots, to run cases within the limit of ten active jobs per caller. Serves requests in
 * order, except those that do not fit. Spreads the cases over the callers, because each caller has a rate limit.
 */
export function createPool(keys: readonly string[], atOnce: number) {
  const callers = keys.map((key) => ({ key, free: slotsOfCaller, cases: 0 }));
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
    for (const request of waiting.slice()) {
      if (running >= atOnce) return;
      const [caller] = callers
        .filter(({ free }) => free >= request.slots)
        .toSorted((a, b) => b.free - a.free || a.cases - b.cases);
      if (caller === undefined) continue;
      caller.cases += 1;
      waiting.splice(waiting.indexOf(request), 1);
      caller.free -= request.slots;
      running += 1;
      request.resolve(caller);
    }
  }
}
