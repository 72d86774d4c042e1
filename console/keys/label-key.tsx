import { useState } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import type { Key } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, TextInput } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';

/** Shows a dialog that changes the label of a key. */
export function LabelKey({
  entry,
  onDone,
  onClose,
}: {
  entry: Key;
  onDone: () => void;
  onClose: () => void;
}) {
  const { api } = useSession();
  const [label, setLabel] = useState(entry.label ?? '');
  const saving = useAction(() => api.labelKey(entry.key_id, label.trim() || null));
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await saving.run()) onDone();
  };
  return (
    <Dialog title="Edit label" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <Field label="Label" hint={`Key ${entry.prefix}…`}>
          {(ids) => <TextInput {...ids} value={label} onValue={setLabel} maxLength={200} autoFocus />}
        </Field>
        {saving.problem && <ProblemNote problem={saving.problem} />}
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={saving.busy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
