import { useState } from 'preact/hooks';
import type { Api } from '../api/api.ts';
import { useResource } from '../api/use-resource.ts';
import { useAction } from '../api/use-action.ts';
import type { Delivery, DeliveryPage } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import type { Tone } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { pluralize } from '../parts/pluralize.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { milliseconds } from '../time/format.ts';
import { Clock, When } from '../time/when.tsx';

const everyMs = 3_000;
const step = 20;

const tones: Record<Delivery['state'], Tone> = { pending: 'warn', delivered: 'good', failed: 'bad' };

/** Shows the webhook deliveries of a job with each attempt and a button to resend. */
export function Deliveries({ jobId, active }: { jobId: string; active: boolean }) {
  const { api } = useSession();
  const { value, problem, reload } = useResource(
    (signal) => allDeliveries(api, jobId, signal),
    [jobId],
    active ? everyMs : everyMs * 2,
  );
  const [shown, setShown] = useState(step);
  return (
    <Panel title="Deliveries" intro={value && <span class="mono source">{value.webhook_url}</span>}>
      {!value && !problem && <Skeleton />}
      {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
      {value?.deliveries.length === 0 && <EmptyState icon="bell" title="No deliveries yet" />}
      <ul class="deliveries">
        {value?.deliveries
          .slice(-shown)
          .toReversed()
          .map((delivery) => (
            <DeliveryItem key={delivery.sequence} delivery={delivery} jobId={jobId} onResent={reload} />
          ))}
      </ul>
      {value && value.deliveries.length > shown && (
        <Button small onClick={() => setShown(shown + step)}>
          Show older
        </Button>
      )}
    </Panel>
  );
}

/** Reads all pages: the API returns the oldest deliveries first, and the panel shows the newest first. */
async function allDeliveries(api: Api, jobId: string, signal: AbortSignal): Promise<DeliveryPage> {
  const deliveries: Delivery[] = [];
  for (let after = 0; ;) {
    const page = await api.deliveries(jobId, after, signal);
    deliveries.push(...page.deliveries);
    if (!page.has_more) return { ...page, deliveries };
    after = page.next_after;
  }
}

type ItemProps = { delivery: Delivery; jobId: string; onResent: () => void };

function DeliveryItem({ delivery, jobId, onResent }: ItemProps) {
  const session = useSession();
  const { api } = session;
  const sending = useAction(async () => {
    await api.resend(jobId, delivery.sequence);
    onResent();
  });
  return (
    <li class="delivery">
      <div class="delivery-head">
        <span>
          <strong>{delivery.type.replaceAll('_', ' ')}</strong>{' '}
          <span class="muted">#{delivery.sequence}</span>
        </span>
        <Badge tone={tones[delivery.state]}>{delivery.state}</Badge>
      </div>
      {delivery.error !== null && <p class="small bad-text">{delivery.error}</p>}
      {delivery.attempts.length > 0 && (
        <details>
          <summary class="small">{pluralize(delivery.attempts.length, 'attempt')}</summary>
          <ol class="attempts small">
            {delivery.attempts.map((attempt) => (
              <li key={attempt.time}>
                <Clock at={attempt.time} />
                <span class="mono">{attempt.status ?? '–'}</span>
                <span class="muted">{milliseconds(attempt.latency_ms)}</span>
                {attempt.error !== null && <span class="bad-text">{attempt.error}</span>}
                {attempt.resend > 0 && <span class="muted">resend</span>}
              </li>
            ))}
          </ol>
        </details>
      )}
      {delivery.next_attempt_at !== null && (
        <p class="small muted">
          Next attempt <When at={delivery.next_attempt_at} />
        </p>
      )}
      {sending.problem && <ProblemNote problem={sending.problem} />}
      {delivery.state !== 'pending' && mayUse(session, 'jobs') && (
        <Button small onClick={() => void sending.run()} busy={sending.busy}>
          Resend
        </Button>
      )}
    </li>
  );
}
