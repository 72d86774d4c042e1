import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { useFormProblem } from './form.tsx';
import { ProblemNote } from './problem-note.tsx';
import type { Action } from '../api/use-action.ts';
import { useAction } from '../api/use-action.ts';

type Props = {
  title: string;
  onClose: () => void;
  wide?: boolean;
  /** Closes on a click outside, default true. False for content that is shown only once. */
  closesByClickBeside?: boolean;
  children: ComponentChildren;
};

/** Shows a native modal dialog: focus stays inside, Escape closes, and the previous element regains focus. */
export function Dialog({ title, onClose, wide = false, closesByClickBeside = true, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const beside = (event: MouseEvent) => {
    if (closesByClickBeside && event.target === element.current) onClose();
  };
  return (
    <dialog
      ref={element}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={beside}
    >
      <div class="stack">
        <div class="spread">
          <h2 id={titleId}>{title}</h2>
          <Button kind="quiet" label="Close" onClick={onClose}>
            <Icon name="cross" />
          </Button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

type ActionsProps = {
  action: Pick<Action<never>, 'busy' | 'problem'>;
  onClose: () => void;
  /** Runs the action; absent if the button submits a form. */
  onRun?: () => Promise<unknown>;
  /** Default: that of the action. */
  problem?: ComponentProps<typeof ProblemNote>['problem'] | undefined;
  kind?: 'primary' | 'danger';
  cancel?: string;
  disabled?: boolean;
  children: ComponentChildren;
};

/** Shows the problem of the last try, and the buttons at the end of a dialog. `children`: what the button does. */
export function DialogActions({
  action,
  onClose,
  onRun,
  problem = action.problem,
  kind = 'primary',
  cancel = 'Cancel',
  disabled = false,
  children,
}: ActionsProps) {
  const { summary } = useFormProblem();
  // The marked fields say the rest.
  const shown =
    problem && summary !== undefined
      ? { message: 'A field is not as it should be', remedy: summary }
      : problem;
  return (
    <>
      {shown && <ProblemNote problem={shown} />}
      <div class="row at-end">
        <Button onClick={onClose}>{cancel}</Button>
        <Button
          kind={kind}
          type={onRun ? 'button' : 'submit'}
          busy={action.busy}
          disabled={disabled}
          onClick={() => void onRun?.()}
        >
          {children}
        </Button>
      </div>
    </>
  );
}

type ConfirmProps = {
  title: string;
  children: ComponentChildren;
  confirm: string;
  decline?: string;
  act: () => Promise<unknown>;
  onDone: () => void;
  onClose: () => void;
};

/** Requires a confirmation before an action that cannot be undone. */
export function ConfirmDialog({
  title,
  children,
  confirm,
  decline = 'Cancel',
  act,
  onDone,
  onClose,
}: ConfirmProps) {
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
