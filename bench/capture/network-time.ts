import type { GuardedHttp } from '../../adapters/egress/guarded-http.ts';

/** Wraps an HTTP client and measures the time during which at least one response was pending. */
export function countNetworkTime(http: GuardedHttp): { http: GuardedHttp; takeMs: () => number } {
  let underWay = 0;
  let sinceMs = 0;
  let totalMs = 0;
  return {
    http: {
      close: () => http.close(),
      request: async (url, options) => {
        if (underWay === 0) sinceMs = performance.now();
        underWay += 1;
        try {
          return await http.request(url, options);
        } finally {
          underWay -= 1;
          if (underWay === 0) totalMs += performance.now() - sinceMs;
        }
      },
    },
    takeMs: () => {
      const taken = totalMs;
      totalMs = 0;
      return taken;
    },
  };
}
