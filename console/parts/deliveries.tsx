import { useState } from 'preact/hooks';
import { useResource } from '../api/use-resource.ts';
import { useAction } from '../api/use-action.ts';
import type { Delivery } from '../api/types.ts';
import { Badge, type Tone } from './badge.tsx';
import { Button } from './button.tsx';
import { EmptyState, Panel, Skeleton } from './panel.tsx';
import { ProblemNote } from './problem-note.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { milliseconds, timeZone, pluralize } from '../time/format.ts';
import { Clock, When } from '../time/when.tsx';

const everyMs = 3_000;
const step = 20;

const tones: Record<Delivery['state'], Tone> = { pending: 'warn', delivered: 'good', failed: 'bad' };

/** Delivery of an event; one of a watch names its destination. */
type ListedDelivery = Delivery & { destination_id?: string };

type Props = {
  /** Returns a page of deliveries after a sequence, oldest first. */
  load: (after: number, signal: AbortSignal) => Promise<DeliveryList>;
  resend: (delivery: ListedDelivery) => Promise<unknown>;
  id: string;
  active: boolean;
};

type DeliveryList = {
  webhook_url?: string | null;
  deliveries: ListedDelivery[];
  next_after: number;
  has_more: boolean;
};

/** Shows the deliveries of a job or a watch with each attempt and a button to resend. */
export function Deliveries({ load, resend, id, active }: Props) {
  const { value, problem, reload } = useResource(
    (signal) => loadAll(load, signal),
    [id],
    active ? everyMs : everyMs * 2,
  );
  const [shown, setShown] = useState(step);
  return (
    <Panel
      title="Deliveries"
      aside={timeZone}
      intro={value?.webhook_url && <span class="mono anywhere">{value.webhook_url}</span>}
    >
      {!value && !problem && <Skeleton />}
      {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
      {value?.deliveries.length === 0 && <EmptyState icon="bell" title="No deliveries yet" />}
      <ul class="stack divided">
        {value?.deliveries
          .slice(-shown)
          .toReversed()
          .map((delivery) => (
            <DeliveryItem
              key={`${delivery.sequence} ${delivery.destination_id}`}
              delivery={delivery}
              resend={resend}
              onResent={reload}
            />
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
async function loadAll(load: Props['load'], signal: AbortSignal): Promise<DeliveryList> {
  const deliveries: ListedDelivery[] = [];
  for (let after = 0; ;) {
    const page = await load(after, signal);
    deliveries.push(...page.deliveries);
    if (!page.has_more) return { ...page, deliveries };
    after = page.next_after;
  }
}

type ItemProps = { delivery: ListedDelivery; resend: Props['resend']; onResent: () => void };

function DeliveryItem({ delivery, resend, onResent }: ItemProps) {
  const session = useSession();
  const newest = delivery.attempts.at(-1);
  const sending = useAction(async () => {
    await resend(delivery);
    onResent();
  });
  return (
    <li class="at-start">
      <div class="spread wide">
        <span>
          <strong>{delivery.type.replaceAll('_', ' ')}</strong>{' '}
          <span class="muted">
            #{delivery.sequence}
            {delivery.destination_id !== undefined && ` to ${delivery.destination_id}`}
          </span>{' '}
          {newest && <When at={newest.time} />}
        </span>
        <Badge tone={tones[delivery.state]}>{delivery.state}</Badge>
      </div>
      {delivery.error !== null && <p class="small bad-text">{delivery.error}</p>}
      {delivery.attempts.length > 0 && (
        <details class="wide">
          <summary class="small">{pluralize(delivery.attempts.length, 'attempt')}</summary>
          <ol class="attempts small">
            {delivery.attempts.map((attempt) => (
              <li class="row" key={attempt.time}>
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
      {sending.problem && (
        <div class="wide">
          <ProblemNote problem={sending.problem} />
        </div>
      )}
      {delivery.state !== 'pending' && mayUse(session, 'jobs') && (
        <Button small onClick={() => void sending.run()} busy={sending.busy}>
          Resend
        </Button>
      )}
    </li>
  );
}
