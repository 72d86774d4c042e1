import type { ComponentChildren } from 'preact';
import { useAction } from '../api/use-action.ts';
import { Dialog, DialogActions } from './dialog.tsx';

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
      <DialogActions action={action} onClose={onClose} onRun={run} kind="danger" cancel={decline}>
        {confirm}
      </DialogActions>
    </Dialog>
  );
}
