import { useState } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import type { WebhookSecret } from '../api/types.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { When } from '../time/when.tsx';
import { GraceField, type Grace } from './grace.tsx';

/** Shows the secret that receivers verify webhooks with. Fetches it on request and discards it when hidden. */
export function WebhookSecretPanel() {
  const { api } = useSession();
  const [secret, setSecret] = useState<WebhookSecret>();
  const [rotating, setRotating] = useState(false);
  const revealing = useAction(async () => setSecret(await api.webhookSecret()));
  return (
    <Panel
      title="Webhook signing secret"
      intro="Your receiver uses it to verify that Watchpost sent an event."
    >
      <div class="stack">
        {secret ? (
          <ShownSecret secret={secret} />
        ) : (
          <p class="secret muted" aria-hidden="true">
            whsec_••••••••••••••••••••
          </p>
        )}
        {revealing.problem && <ProblemNote problem={revealing.problem} />}
        <div class="row">
          {secret ? (
            <Button onClick={() => setSecret(undefined)}>Hide secret</Button>
          ) : (
            <Button onClick={() => void revealing.run()} busy={revealing.busy}>
              Show secret
            </Button>
          )}
          <Button onClick={() => setRotating(true)}>Rotate secret</Button>
        </div>
      </div>
      {rotating && (
        <RotateSecret
          onRotated={(made) => {
            setSecret(made);
            setRotating(false);
          }}
          onClose={() => setRotating(false)}
        />
      )}
    </Panel>
  );
}

function ShownSecret({ secret: { secret, version, previous_valid_until } }: { secret: WebhookSecret }) {
  return (
    <>
      <div class="secret">
        <code tabIndex={0} role="textbox" aria-readonly="true" aria-label="Webhook signing secret">
          {secret}
        </code>
        <CopyButton text={secret} what="Webhook signing secret" />
      </div>
      <p class="small muted">
        Version {version}
        {previous_valid_until !== null && (
          <>
            ; events also carry the old signature until <When at={previous_valid_until} />
          </>
        )}
      </p>
    </>
  );
}

type RotateProps = { onRotated: (made: WebhookSecret) => void; onClose: () => void };

function RotateSecret({ onRotated, onClose }: RotateProps) {
  const { api } = useSession();
  const [grace, setGrace] = useState<Grace>('86400');
  const rotating = useAction(async () => onRotated(await api.rotateWebhookSecret(Number(grace))));
  return (
    <Dialog title="Rotate the signing secret" onClose={onClose}>
      <div class="stack">
        <p>
          The new secret signs immediately. Until the old one ends, each event carries both signatures, so
          that your receiver can switch at any time.
        </p>
        <GraceField label="Grace period of the old secret" value={grace} onValue={setGrace} />
        <DialogActions action={rotating} onClose={onClose} onRun={rotating.run}>
          Rotate the secret
        </DialogActions>
      </div>
    </Dialog>
  );
}
