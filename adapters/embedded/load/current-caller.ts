import { AsyncLocalStorage } from 'node:async_hooks';
import type { AsCaller } from '../../../core/ports/callers.ts';
import type { ScanningCapturer } from '../../../core/ports/stream-capturer.ts';

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
  { probe, capture, picture, follow }: ScanningCapturer,
  asCaller: AsCaller = async (_caller, work) => work(),
): ScanningCapturer {
  return {
    probe: (url, signal, caller) => asCaller(caller, () => probe(url, signal, caller)),
    capture: (request, signal) => asCaller(request.caller, () => capture(request, signal)),
    picture: (frame, request, signal) => asCaller(request.caller, () => picture(frame, request, signal)),
    ...(follow && { follow: (request, ...rest) => asCaller(request.caller, () => follow(request, ...rest)) }),
  };
}
