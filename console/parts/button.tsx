import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

type Props = {
  children: ComponentChildren;
  onClick?: (event: MouseEvent) => void;
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  type?: 'button' | 'submit';
  /** Disables the button and announces that the action runs. */
  busy?: boolean;
  disabled?: boolean;
  wide?: boolean;
  small?: boolean;
  /** Accessible name of a button that shows only an icon. */
  label?: string;
};

export function Button({
  children,
  onClick,
  kind = 'plain',
  type = 'button',
  busy = false,
  disabled = false,
  wide = false,
  small = false,
  label,
}: Props) {
  const names = ['button', kind, wide && 'wide', small && 'small', label !== undefined && 'icon-only'];
  return (
    <button
      type={type}
      class={names.filter(Boolean).join(' ')}
      disabled={disabled || busy}
      aria-busy={busy}
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      {busy && <span class="spinner" aria-hidden="true" />}
      {children}
    </button>
  );
}

const shownMs = 2_000;

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), shownMs);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => setState((await copyText(text)) ? 'copied' : 'failed');
  return (
    <>
      <Button small onClick={() => void copy()}>
        <Icon name={state === 'copied' ? 'check' : 'copy'} />
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'Select and copy manually' : 'Copy'}
        <span class="visually-hidden"> {what}</span>
      </Button>
      <span class="visually-hidden" role="status">
        {state === 'copied' ? `${what} copied` : ''}
      </span>
    </>
  );
}

/** Returns false if the browser denies access: the clipboard requires https or localhost. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
