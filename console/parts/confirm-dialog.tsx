import type { ComponentChildren } from 'preact';
import { useAction } from '../api/use-action.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ProblemNote } from './problem-note.tsx';

type Props = {
  title: string;
  children: ComponentChildren;
  confirm: string;
  decline?: string;
  act: () => Promise<unknown>;
  onDone: () => void;
  onClose: () => void;
};

/** Requires a confirmation before an action that cannot be undone. */
export function ConfirmDialog({ title, children, confirm, decline = 'Cancel', act, onDone, onClose }: Props) {
  const action = useAction(act);
  const run = async () => {
    if (await action.run()) onDone();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {action.problem && <ProblemNote problem={action.problem} />}
      <div class="dialog-actions">
        <Button onClick={onClose}>{decline}</Button>
        <Button kind="danger" onClick={() => void run()} busy={action.busy}>
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}
