import { useState } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import type { Resource } from '../api/use-resource.ts';
import type { Caller } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { TableHead, Panel, Skeleton } from '../parts/panel.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { Field, TextInput } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { When } from '../time/when.tsx';

/** Lists and adds callers, for keys with the scope `admin`. */
export function Callers({ callers }: { callers: Resource<Caller[]> }) {
  const [adding, setAdding] = useState(false);
  return (
    <Panel
      title="Callers"
      intro="Each caller owns its jobs, keys and signing secret, and cannot access those of other callers."
      aside={
        <Button small onClick={() => setAdding(true)}>
          Add caller
        </Button>
      }
    >
      {callers.problem && <ProblemNote problem={callers.problem} onRetry={callers.reload} />}
      {!callers.value && !callers.problem && <Skeleton rows={2} />}
      {callers.value && (
        <table class="table cards">
          <TableHead columns={['Caller', 'Label', 'Since']} />
          <tbody>
            {callers.value.map(({ caller, label, created_at: createdAt }) => (
              <tr key={caller}>
                <th scope="row">{caller}</th>
                <td data-label="Label">{label ?? <span class="muted">–</span>}</td>
                <td data-label="Since">
                  <When at={createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {adding && (
        <AddCaller
          onDone={() => {
            setAdding(false);
            callers.reload();
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </Panel>
  );
}

function AddCaller({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const { api } = useSession();
  const [name, setName] = useState('');
  const [label, setLabel] = useState('');
  const adding = useAction(() => api.addCaller(name.trim(), label.trim() || null));
  return (
    <Dialog title="Add a caller" onClose={onClose}>
      <Form action={adding} onSubmit={async () => (await adding.run()) && onDone()}>
        <Field label="Name" name="caller" hint="1 to 64 letters, digits, or any of . _ @ -">
          {(ids) => <TextInput {...ids} value={name} onValue={setName} maxLength={64} autoFocus />}
        </Field>
        <Field label="Label" name="label" hint="Optional">
          {(ids) => <TextInput {...ids} value={label} onValue={setLabel} maxLength={200} />}
        </Field>
        <DialogActions action={adding} onClose={onClose} disabled={name.trim() === ''}>
          Add caller
        </DialogActions>
      </Form>
    </Dialog>
  );
}
