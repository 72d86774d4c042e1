import { useResource } from '../api/use-resource.ts';
import { useSession } from '../session/session.ts';

const everyMs = 5_000;
const maxCounted = 99;

/** Shows the number of open alerts beside their link; nothing if none is open. */
export function OpenAlerts() {
  const { api } = useSession();
  const { value: alerts = [] } = useResource(
    async (signal) => (await api.alerts({ state: 'open', limit: maxCounted + 1 }, signal)).alerts,
    [],
    everyMs,
  );
  if (alerts.length === 0) return null;
  return (
    <span class="count-badge">
      {alerts.length > maxCounted ? `${maxCounted}+` : alerts.length}
      <span class="visually-hidden"> open</span>
    </span>
  );
}
