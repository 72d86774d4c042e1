import type { ComponentChildren } from 'preact';

type Props = { title: string; summary: string; open?: boolean | undefined; children: ComponentChildren };

/**
 * Renders a part of a form that is folded, with what it holds in a line. Opens for a control that the browser refuses.
 */
export function Fold({ title, summary, open = false, children }: Props) {
  return (
    <details
      class="fold"
      open={open}
      onInvalidCapture={({ currentTarget }) => {
        currentTarget.open = true;
      }}
    >
      <summary>
        <strong>{title}</strong> <span class="muted">{summary}</span>
      </summary>
      <div class="stack">{children}</div>
    </details>
  );
}
