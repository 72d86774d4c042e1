import type { ComponentChildren } from 'preact';

/** Color of a badge by meaning. */
export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'alert' | 'accent';

export function Badge({
  tone = 'neutral',
  dot = false,
  children,
}: {
  tone?: Tone;
  /** Shows a pulsing dot, for an active state. */
  dot?: boolean;
  children: ComponentChildren;
}) {
  return (
    <span class={`badge ${tone}`}>
      {dot && <span class="dot" aria-hidden="true" />}
      {children}
    </span>
  );
}
