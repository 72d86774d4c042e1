import { useResource } from '../api/use-resource.ts';

const everyMs = 30_000;

/** Checks whose warnings concern everybody who reads alerts. */
const told = new Set(['load', 'media']);

type Check = { check: string; status: string; message: string; next: string | null };

/** Reports the failed checks of the service, such as a model that does not answer, an overload, and lost evidence. */
export function HealthBanner() {
  const { value: checks = [] } = useResource(readChecks, [], everyMs);
  const shown = checks.filter(
    ({ check, status }) => status === 'failed' || (told.has(check) && status === 'warning'),
  );
  return (
    <div role="status">
      {shown.map(({ check, message, next }) => (
        <p class="banner" key={check}>
          {check}: {message}. {next}
        </p>
      ))}
    </div>
  );
}

export async function readChecks(signal: AbortSignal): Promise<Check[]> {
  const { checks = [] } = await readHealth(signal);
  return checks;
}

async function readHealth(signal: AbortSignal): Promise<{ checks?: Check[] }> {
  const response = await fetch('/healthz?deep', { cache: 'no-store', signal });
  // As in http.ts: the response gets its type here.
  // oxlint-disable-next-line typescript/no-unsafe-return
  return response.json();
}
