import { useState } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import type { WebhookTest } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { Field, TextInput } from '../parts/field.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { milliseconds } from '../time/format.ts';

/** Sends one signed test event to a URL, to verify a receiver before a job depends on it. */
export function TestWebhook() {
  const { api } = useSession();
  const [url, setUrl] = useState('');
  const [result, setResult] = useState<WebhookTest>();
  const sending = useAction(async () => {
    setResult(undefined);
    setResult(await api.testWebhook(url.trim()));
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (url.trim() !== '') void sending.run();
  };
  return (
    <Panel
      title="Send a test event"
      intro="Sends one signed event of type test and shows the response of your receiver."
    >
      <form class="stack" onSubmit={submit}>
        <Field label="Receiver URL">
          {(ids) => (
            <TextInput
              {...ids}
              inputMode="url"
              placeholder="https://example.com/hooks/watchpost"
              value={url}
              onValue={setUrl}
            />
          )}
        </Field>
        <div class="actions">
          <Button type="submit" busy={sending.busy} disabled={url.trim() === ''}>
            Send test event
          </Button>
        </div>
        <div role="status">{result && <Result result={result} />}</div>
        {sending.problem && <ProblemNote problem={sending.problem} />}
      </form>
    </Panel>
  );
}

function Result({ result: { status, latency_ms: latencyMs, error } }: { result: WebhookTest }) {
  return (
    <p>
      <Badge tone={error === null ? 'good' : 'bad'}>{error === null ? 'delivered' : 'failed'}</Badge>{' '}
      {status === null ? error : `Status ${status} in ${milliseconds(latencyMs)}`}
      {status !== null && error !== null && <span class="muted">: {error}</span>}
    </p>
  );
}
