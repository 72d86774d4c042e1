import { generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import { useState } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import { useResource } from '../api/use-resource.ts';
import type { Scope } from '../api/types.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { Choice } from '../parts/choice.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { Field, TextInput } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { dayText, shortTime } from '../time/format.ts';
import { routeUrls } from '../shell/routes.ts';

const pollMs = 2_000;
/** Modules of white around a QR code (ISO/IEC 18004). */
const quietZone = 4;

type Props = { onChange: () => void; onClose: () => void };

/**
 * Signs a telephone in: creates a key of its own for it, and shows a code with which it signs in once, without the key.
 */
export function SignInDevice({ onChange, onClose }: Props) {
  const session = useSession();
  const { api } = session;
  const [label, setLabel] = useState(() => `Telephone, ${dayText(new Date())} ${shortTime(Date.now())}`);
  const [scope, setScope] = useState<Scope>(mayUse(session, 'jobs') ? 'jobs' : 'read');
  const [made, setMade] = useState<{ id: string; link: string }>();
  const creating = useAction(async () => {
    const { key_id: id } = await api.createKey({ label: label.trim() || null, scopes: [scope] });
    const { code } = await api.createSignInCode(id);
    setMade({ id, link: `${location.origin}${location.pathname}${routeUrls.signIn(code)}` });
    onChange();
  });
  if (made) return <ShowCode {...made} onChange={onChange} onClose={onClose} />;
  return (
    <Dialog title="Sign in a telephone" onClose={onClose}>
      <Form action={creating} onSubmit={creating.run}>
        {isLoopback(location.hostname) && (
          <p class="note warn">
            <Icon name="warn" />
            <span>
              A telephone cannot reach {location.hostname}. Start the service with <code>--host 0.0.0.0</code>
              , and open this page at the address of the machine.
            </span>
          </p>
        )}
        <Field label="Name of the device" name="label">
          {(ids) => <TextInput {...ids} value={label} onValue={setLabel} maxLength={200} />}
        </Field>
        <Choice
          legend="It may"
          value={scope}
          onValue={setScope}
          options={[
            { value: 'read', label: 'Look', hint: 'Watches, alerts, pictures; it changes nothing.' },
            ...(mayUse(session, 'jobs')
              ? [
                  {
                    value: 'jobs' as const,
                    label: 'Look and act',
                    hint: 'Also acknowledge alerts, snooze and change watches, and search.',
                  },
                ]
              : []),
          ]}
        />
        <DialogActions action={creating} onClose={onClose}>
          Show code
        </DialogActions>
      </Form>
    </Dialog>
  );
}

/** Shows the code until the device has signed in. A code that nobody used ends with its key. */
function ShowCode({ id, link, onChange, onClose }: { id: string; link: string } & Props) {
  const { api } = useSession();
  const { value: signedIn = false } = useResource(
    async (signal) =>
      (await api.keys(undefined, signal)).some((key) => key.key_id === id && key.last_used_at !== null),
    [id],
    pollMs,
  );
  const close = async () => {
    if (!signedIn) await api.revokeKey(id, false).catch(() => undefined);
    onChange();
    onClose();
  };
  return (
    <Dialog title="Sign in a telephone" onClose={() => void close()} closesByClickBeside={false}>
      {signedIn ? (
        <p class="note" role="status">
          The device is signed in. Revoke its key on this page to sign it out.
        </p>
      ) : (
        <>
          <p>Scan this with the camera of the telephone, within 5 minutes. It works once.</p>
          <QrCode text={link} />
          <p class="row">
            <CopyButton text={link} what="Link" /> <span class="muted">or open the link on the device:</span>
          </p>
          <code class="small">{link}</code>
        </>
      )}
      <div class="row at-end">
        <Button kind={signedIn ? 'primary' : 'plain'} onClick={() => void close()}>
          {signedIn ? 'Done' : 'Cancel'}
        </Button>
      </div>
    </Dialog>
  );
}

function QrCode({ text }: { text: string }) {
  const code = generate(text);
  const size = code.size + 2 * quietZone;
  return (
    <svg
      class="qr"
      viewBox={`${-quietZone} ${-quietZone} ${size} ${size}`}
      role="img"
      aria-label="QR code of the link"
    >
      <path d={toSvgPath(code)} />
    </svg>
  );
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
