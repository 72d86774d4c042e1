import { useState } from 'preact/hooks';
import { useResource } from '../api/use-resource.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { Field, Select, TextInput, Checkbox } from '../parts/field.tsx';
import { Panel, Skeleton } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import type { NewKey, WebhookTest, Scope } from '../api/types.ts';
import { mayUse, useSession } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { Callers } from './callers.tsx';
import { KeyTable } from './key-table.tsx';
import { SignInDevice } from './sign-in-device.tsx';
import { WebhookSecretPanel } from './webhook-secret.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { Icon } from '../parts/icon.tsx';
import { useAction } from '../api/use-action.ts';
import { Badge } from '../parts/badge.tsx';
import { milliseconds } from '../time/format.ts';

const scopes: { scope: Scope; label: string; hint: string }[] = [
  { scope: 'read', label: 'read', hint: 'Read jobs, events and frames; start and change nothing' },
  { scope: 'jobs', label: 'jobs', hint: 'Checks, jobs, webhooks; includes read' },
  { scope: 'keys', label: 'keys', hint: 'Keys of this caller, and the webhook secret' },
  { scope: 'internal', label: 'internal', hint: 'Metrics, alarms and logs of the service' },
  { scope: 'admin', label: 'admin', hint: 'Callers, and keys of other callers; includes keys' },
];

type Props = { caller: string; onCreated: (key: NewKey) => void; onClose: () => void };

/** Shows a dialog that creates a key. Offers only the scopes of the key in use. */
function CreateKey({ caller, onCreated, onClose }: Props) {
  const session = useSession();
  const { api, me } = session;
  const [label, setLabel] = useState('');
  const [chosen, setChosen] = useState<Scope[]>([mayUse(session, 'jobs') ? 'jobs' : 'read']);
  const creating = useAction(async () => {
    const request = { label: label.trim() || null, scopes: chosen };
    onCreated(await api.createKey(caller === me.caller ? request : { ...request, caller }));
  });
  return (
    <Dialog title="New key" onClose={onClose}>
      <Form action={creating} onSubmit={() => chosen.length > 0 && creating.run()}>
        {caller !== me.caller && (
          <p class="muted">
            For the caller <strong>{caller}</strong>.
          </p>
        )}
        <Field label="Label" name="label" hint="Where the key is used, such as “door camera script”">
          {(ids) => <TextInput {...ids} value={label} onValue={setLabel} maxLength={200} autoFocus />}
        </Field>
        <Scopes chosen={chosen} onChosen={setChosen} />
        <DialogActions action={creating} onClose={onClose} disabled={chosen.length === 0}>
          Create key
        </DialogActions>
      </Form>
    </Dialog>
  );
}

type ScopesProps = { chosen: Scope[]; onChosen: (scopes: Scope[]) => void };

function Scopes({ chosen, onChosen }: ScopesProps) {
  const session = useSession();
  return (
    <fieldset class="field stack">
      <legend>Scopes</legend>
      {scopes
        .filter(({ scope }) => mayUse(session, scope))
        .map(({ scope, label, hint }) => (
          <Checkbox
            key={scope}
            label={label}
            hint={hint}
            checked={chosen.includes(scope)}
            onChecked={(checked) =>
              onChosen(checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
            }
          />
        ))}
    </fieldset>
  );
}

/** Shows API keys, the webhook signing secret and callers. */
export function KeysPage() {
  const session = useSession();
  const { api, me } = session;
  const admin = mayUse(session, 'admin');
  const [caller, setCaller] = useState(me.caller);
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<NewKey>();
  const [addsDevice, setAddsDevice] = useState(false);
  const keys = useResource((signal) => api.keys(admin ? caller : undefined, signal), [caller]);
  const callers = useResource(async (signal) => (admin ? api.callers(signal) : []), []);

  const shown = (key: NewKey) => {
    setCreating(false);
    setMade(key);
    keys.reload();
  };
  return (
    <>
      <PageHead
        title="Keys"
        lead="API keys for your programs, and the secret that signs webhooks."
        aside={
          <div class="row">
            <Button onClick={() => setAddsDevice(true)}>Sign in a telephone</Button>
            <Button kind="primary" onClick={() => setCreating(true)}>
              New key
            </Button>
          </div>
        }
      />
      <div class="stack gap-5">
        <Panel
          title="API keys"
          aside={
            admin &&
            (callers.value?.length ?? 0) > 1 && (
              <Field label="Caller">
                {(ids) => (
                  <Select
                    {...ids}
                    value={caller}
                    onValue={setCaller}
                    options={(callers.value ?? []).map((each) => ({
                      value: each.caller,
                      label: each.caller,
                    }))}
                  />
                )}
              </Field>
            )
          }
        >
          {keys.problem && <ProblemNote problem={keys.problem} onRetry={keys.reload} />}
          {!keys.value && !keys.problem && <Skeleton rows={4} />}
          {keys.value && <KeyTable keys={keys.value} onChange={keys.reload} onNewKey={shown} />}
        </Panel>
        <div class="columns">
          <WebhookSecretPanel />
          {mayUse(session, 'jobs') && <TestWebhook />}
        </div>
        {admin && <Callers callers={callers} />}
      </div>
      {creating && <CreateKey caller={caller} onCreated={shown} onClose={() => setCreating(false)} />}
      {addsDevice && <SignInDevice onChange={keys.reload} onClose={() => setAddsDevice(false)} />}
      {made && <NewKeyDialog made={made} onClose={() => setMade(undefined)} />}
    </>
  );
}

/** Shows a new key. The service stores only its hash, so the console cannot show it again. */
function NewKeyDialog({ made, onClose }: { made: NewKey; onClose: () => void }) {
  return (
    <Dialog title={made.label ?? 'Your new key'} onClose={onClose} closesByClickBeside={false}>
      <p class="note warn">
        <Icon name="warn" />
        <span>Copy the key now. The service stores only its hash and cannot show it again.</span>
      </p>
      <div class="secret">
        <code tabIndex={0} role="textbox" aria-readonly="true" aria-label="New API key">
          {made.key}
        </code>
        <CopyButton text={made.key} what="New API key" />
      </div>
      <div class="row at-end">
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}

/** Sends one signed test event to a URL, to verify a receiver before a job depends on it. */
function TestWebhook() {
  const { api } = useSession();
  const [url, setUrl] = useState('');
  const [result, setResult] = useState<WebhookTest>();
  const sending = useAction(async () => {
    setResult(undefined);
    setResult(await api.testWebhook(url.trim()));
  });
  return (
    <Panel
      title="Send a test event"
      intro="Sends one signed event of type test and shows the response of your receiver."
    >
      <Form action={sending} onSubmit={() => url.trim() !== '' && sending.run()}>
        <Field label="Receiver URL" name="webhook_url">
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
        <div class="row">
          <Button type="submit" busy={sending.busy} disabled={url.trim() === ''}>
            Send test event
          </Button>
        </div>
        <div role="status">{result && <Result result={result} />}</div>
        {sending.problem && <ProblemNote problem={sending.problem} />}
      </Form>
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
