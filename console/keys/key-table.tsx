import { useState } from 'preact/hooks';
import type { Key, NewKey } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../parts/dialog.tsx';
import { EmptyState } from '../parts/panel.tsx';
import { useSession } from '../session/session.ts';
import { useNow } from '../time/format.ts';
import { When } from '../time/when.tsx';
import { useAction } from '../api/use-action.ts';
import { Form } from '../parts/form.tsx';
import { Field, TextInput, Checkbox } from '../parts/field.tsx';
import { GraceField, type Grace } from './grace.tsx';

type Props = { keys: Key[]; onChange: () => void; onNewKey: (key: NewKey) => void };
type Task = { what: 'label' | 'rotate' | 'revoke'; key: Key };

/** Lists keys with actions to label, rotate and revoke them; revoked keys are last. */
export function KeyTable({ keys, onChange, onNewKey }: Props) {
  const [task, setTask] = useState<Task>();
  // Shows a key as revoked immediately, not only when `useNow` updates.
  const now = Math.max(useNow(10_000), Date.now());
  const close = () => setTask(undefined);
  const changed = () => {
    close();
    onChange();
  };
  const inOrder = keys.toSorted(
    (a, b) => Number(isOver(a, now)) - Number(isOver(b, now)) || b.created_at.localeCompare(a.created_at),
  );
  if (keys.length === 0) return <EmptyState icon="key" title="This caller has no key" />;
  return (
    <>
      <table class="table cards">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Scopes</th>
            <th scope="col">Last used</th>
            <th scope="col">State</th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {inOrder.map((key) => (
            <Row key={key.key_id} entry={key} over={isOver(key, now)} onTask={setTask} />
          ))}
        </tbody>
      </table>
      {task?.what === 'label' && <LabelKey entry={task.key} onDone={changed} onClose={close} />}
      {task?.what === 'rotate' && (
        <RotateKey
          entry={task.key}
          onRotated={(made) => {
            close();
            onNewKey(made);
          }}
          onClose={close}
        />
      )}
      {task?.what === 'revoke' && <RevokeKey entry={task.key} onDone={changed} onClose={close} />}
    </>
  );
}

type RowProps = { entry: Key; over: boolean; onTask: (task: Task) => void };

function Row({ entry, over, onTask }: RowProps) {
  const { me } = useSession();
  const name = entry.label ?? entry.prefix;
  return (
    <tr class={over ? 'over' : ''}>
      <th scope="row">
        <strong>{entry.label ?? 'No label'}</strong>
        <span class="small muted mono">{entry.prefix}…</span>
      </th>
      <td data-label="Scopes">
        <span class="row gap-1">
          {entry.scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
        </span>
      </td>
      <td data-label="Last used">
        {entry.last_used_at === null ? <span class="muted">never</span> : <When at={entry.last_used_at} />}
      </td>
      <td data-label="State">
        <State entry={entry} over={over} isOwn={entry.key_id === me.key_id} />
      </td>
      <td class="row-actions">
        {!over && (
          <>
            <Button small onClick={() => onTask({ what: 'label', key: entry })}>
              Label<span class="visually-hidden"> {name}</span>
            </Button>
            <Button small onClick={() => onTask({ what: 'rotate', key: entry })}>
              Rotate<span class="visually-hidden"> {name}</span>
            </Button>
            <Button small kind="danger" onClick={() => onTask({ what: 'revoke', key: entry })}>
              Revoke<span class="visually-hidden"> {name}</span>
            </Button>
          </>
        )}
      </td>
    </tr>
  );
}

function State({ entry, over, isOwn }: { entry: Key; over: boolean; isOwn: boolean }) {
  if (over) return <Badge tone="neutral">revoked</Badge>;
  return (
    <span class="row gap-1">
      <Badge tone={entry.revoked_at === null ? 'good' : 'warn'}>
        {entry.revoked_at === null ? (
          'valid'
        ) : (
          <>
            ends <When at={entry.revoked_at} />
          </>
        )}
      </Badge>
      {isOwn && <Badge tone="accent">this session</Badge>}
    </span>
  );
}

type RevokeProps = { entry: Key; onDone: () => void; onClose: () => void };

function RevokeKey({ entry, onDone, onClose }: RevokeProps) {
  const { api, me } = useSession();
  const [descendants, setDescendants] = useState(false);
  return (
    <ConfirmDialog
      title={`Revoke ${entry.label ?? entry.prefix}?`}
      confirm="Revoke key"
      act={() => api.revokeKey(entry.key_id, descendants)}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        The service rejects this key within a minute, permanently. Jobs that it started continue.
        {entry.key_id === me.key_id && ' You are signed in with this key, so the console signs you out.'}
      </p>
      <DescendantsField checked={descendants} onChecked={setDescendants} />
    </ConfirmDialog>
  );
}

function isOver({ revoked_at: end }: Key, now: number): boolean {
  return end !== null && Date.parse(end) <= now;
}

/** Shows a dialog that changes the label of a key. */
function LabelKey({ entry, onDone, onClose }: { entry: Key; onDone: () => void; onClose: () => void }) {
  const { api } = useSession();
  const [label, setLabel] = useState(entry.label ?? '');
  const saving = useAction(() => api.labelKey(entry.key_id, label.trim() || null));
  return (
    <Dialog title="Edit label" onClose={onClose}>
      <Form action={saving} onSubmit={async () => (await saving.run()) && onDone()}>
        <Field label="Label" name="label" hint={`Key ${entry.prefix}…`}>
          {(ids) => <TextInput {...ids} value={label} onValue={setLabel} maxLength={200} autoFocus />}
        </Field>
        <DialogActions action={saving} onClose={onClose}>
          Save
        </DialogActions>
      </Form>
    </Dialog>
  );
}

type RotateProps = { entry: Key; onRotated: (made: NewKey) => void; onClose: () => void };

/** Shows a dialog that rotates a key with a grace period. */
function RotateKey({ entry, onRotated, onClose }: RotateProps) {
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
        <DialogActions action={rotating} onClose={onClose} onRun={rotating.run}>
          Rotate key
        </DialogActions>
      </div>
    </Dialog>
  );
}

type DescendantsProps = { checked: boolean; onChecked: (checked: boolean) => void };

/** Renders the choice to include descendants: the holder of a leaked key may have created other keys with it. */
function DescendantsField(props: DescendantsProps) {
  return (
    <Checkbox
      {...props}
      label="Also end the keys that it created"
      hint="And all their descendants. Use it for a leaked key."
    />
  );
}
