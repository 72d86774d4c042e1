import { slotsOfCaller } from './case.ts';

export type Caller = { key: string; free: number };

/**
 * Creates a pool of callers and slots, to run cases within the limit of ten active jobs per caller. Serves requests in
 * order, except those that do not fit.
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
    for (const request of waiting.slice()) {
      if (running >= atOnce) return;
      const caller = callers.toSorted((a, b) => b.free - a.free).find(({ free }) => free >= request.slots);
      if (caller === undefined) continue;
      waiting.splice(waiting.indexOf(request), 1);
      caller.free -= request.slots;
      running += 1;
      request.resolve(caller);
    }
  }
}
