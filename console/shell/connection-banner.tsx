import { useEffect } from 'preact/hooks';

const everyMs = 2_000;

/** Says that the service cannot be reached, and finds out when it can. */
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
          Watchpost cannot be reached. What you see may be out of date; this goes on by itself when it is
          back.
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
