import type { ComponentChildren } from 'preact';

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
