import { useEffect } from 'preact/hooks';

const everyMs = 2_000;

/** Reports that the service is unreachable, and polls until it responds. */
export function ConnectionBanner({
  reachable,
  onReachable,
}: {
  reachable: boolean;
  onReachable: () => void;
}) {
  useEffect(() => {
    if (reachable) return;
    const timer = setInterval(async () => {
      if (await answers()) onReachable();
    }, everyMs);
    return () => clearInterval(timer);
  }, [reachable]);
  return (
    <div role="status">
      {!reachable && (
        <p class="banner">
          Watchpost cannot be reached. This page may be outdated; it updates automatically when the connection
          is back.
        </p>
      )}
    </div>
  );
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}
