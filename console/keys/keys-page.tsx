import { useState } from 'preact/hooks';
import { useResource } from '../api/use-resource.ts';
import { Button } from '../parts/button.tsx';
import { Field, Select } from '../parts/field.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import type { NewKey } from '../api/types.ts';
import { mayUse, useSession } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { Callers } from './callers.tsx';
import { CreateKey } from './create-key.tsx';
import { KeyTable } from './key-table.tsx';
import { TestWebhook } from './test-webhook.tsx';
import { WebhookSecretPanel } from './webhook-secret.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';

/** Shows API keys, the webhook signing secret and callers. */
export function KeysPage() {
  const session = useSession();
  const { api, me } = session;
  const admin = mayUse(session, 'admin');
  const [caller, setCaller] = useState(me.caller);
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<NewKey>();
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
          <Button kind="primary" onClick={() => setCreating(true)}>
            New key
          </Button>
        }
      />
      <div class="stack wide-gap">
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
        <div class="half-columns">
          <WebhookSecretPanel />
          {mayUse(session, 'jobs') && <TestWebhook />}
        </div>
        {admin && <Callers callers={callers} />}
      </div>
      {creating && <CreateKey caller={caller} onCreated={shown} onClose={() => setCreating(false)} />}
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
      <div class="dialog-actions">
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}
