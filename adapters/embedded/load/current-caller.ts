import { AsyncLocalStorage } from 'node:async_hooks';
import type { AsCaller } from '../../../core/ports/as-caller.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';

export type CurrentCaller = { asCaller: AsCaller; currentCaller: () => string };

/** Remembers for whom work is done, across its waits, so that what is shared can be fair by caller. */
export function createCurrentCaller(): CurrentCaller {
  const callers = new AsyncLocalStorage<string>();
  return {
    asCaller: async (caller, work) => callers.run(caller, work),
    currentCaller: () => callers.getStore() ?? '',
  };
}

/** Returns a capturer that works in the name of the caller of each request. */
export function captureAsCaller(
  { probe, capture, follow }: StreamCapturer,
  asCaller: AsCaller = async (_caller, work) => work(),
): StreamCapturer {
  return {
    probe: (url, signal, caller) => asCaller(caller, () => probe(url, signal, caller)),
    capture: (request, signal) =>
      asCaller(request.caller, async () => {
        const captured = await capture(request, signal);
        const { scan } = captured;
        if (!scan) return captured;
        const picture: typeof scan.picture = (...call) =>
          asCaller(request.caller, () => scan.picture(...call));
        return { ...captured, scan: { ...scan, picture } };
      }),
    ...(follow && { follow: (request, ...rest) => asCaller(request.caller, () => follow(request, ...rest)) }),
  };
}
