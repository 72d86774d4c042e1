import { useState } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import type { NewKey, Scope } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Checkbox, Field, TextInput } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { mayUse, useSession } from '../session/session.ts';

const scopes: { scope: Scope; label: string; hint: string }[] = [
  { scope: 'read', label: 'read', hint: 'Read jobs, events and frames; start and change nothing' },
  { scope: 'jobs', label: 'jobs', hint: 'Checks, jobs, webhooks; includes read' },
  { scope: 'keys', label: 'keys', hint: 'Keys of this caller, and the webhook secret' },
  { scope: 'internal', label: 'internal', hint: 'Metrics, alarms and logs of the service' },
  { scope: 'admin', label: 'admin', hint: 'Callers, and keys of other callers; includes keys' },
];

type Props = { caller: string; onCreated: (key: NewKey) => void; onClose: () => void };

/** Shows a dialog that creates a key. Offers only the scopes of the key in use. */
export function CreateKey({ caller, onCreated, onClose }: Props) {
  const session = useSession();
  const { api, me } = session;
  const [label, setLabel] = useState('');
  const [chosen, setChosen] = useState<Scope[]>([mayUse(session, 'jobs') ? 'jobs' : 'read']);
  const creating = useAction(async () => {
    const request = { label: label.trim() || null, scopes: chosen };
    onCreated(await api.createKey(caller === me.caller ? request : { ...request, caller }));
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (chosen.length > 0) void creating.run();
  };
  return (
    <Dialog title="New key" onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {caller !== me.caller && (
          <p class="muted">
            For the caller <strong>{caller}</strong>.
          </p>
        )}
        <Field label="Label" hint="Where the key is used, such as “door camera script”">
          {(ids) => <TextInput {...ids} value={label} onValue={setLabel} maxLength={200} autoFocus />}
        </Field>
        <Scopes chosen={chosen} onChosen={setChosen} />
        {creating.problem && <ProblemNote problem={creating.problem} />}
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={creating.busy} disabled={chosen.length === 0}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

type ScopesProps = { chosen: Scope[]; onChosen: (scopes: Scope[]) => void };

function Scopes({ chosen, onChosen }: ScopesProps) {
  const session = useSession();
  return (
    <fieldset class="field">
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
