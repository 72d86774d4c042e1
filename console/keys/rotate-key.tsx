import { useState } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import type { Key, NewKey } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { DescendantsField } from './descendants.tsx';
import { GraceField } from './grace.tsx';
import type { Grace } from './grace.tsx';

type Props = { entry: Key; onRotated: (made: NewKey) => void; onClose: () => void };

/** Shows a dialog that rotates a key with a grace period. */
export function RotateKey({ entry, onRotated, onClose }: Props) {
  const { api, me } = useSession();
  const [grace, setGrace] = useState<Grace>('3600');
  const [descendants, setDescendants] = useState(false);
  const rotating = useAction(async () =>
    onRotated(await api.rotateKey(entry.key_id, Number(grace), descendants)),
  );
  return (
    <Dialog title={`Rotate ${entry.label ?? entry.prefix}`} onClose={onClose}>
      <div class="stack">
        <p>
          A new key with the same label and scopes replaces this one. Both are valid until the old key ends.
          {entry.key_id === me.key_id &&
            ' You are signed in with the old key: sign in with the new one before it ends.'}
        </p>
        <GraceField label="Grace period of the old key" value={grace} onValue={setGrace} />
        <DescendantsField checked={descendants} onChecked={setDescendants} />
        {rotating.problem && <ProblemNote problem={rotating.problem} />}
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={rotating.busy} onClick={() => void rotating.run()}>
            Rotate key
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
