import { CopyButton } from './copy-button.tsx';

/** Shows code with a copy button. Long lines scroll inside the block, so it accepts focus. */
export function CodeBlock({ code, label, wraps = false }: { code: string; label: string; wraps?: boolean }) {
  return (
    <div class={wraps ? 'code-block wraps' : 'code-block'}>
      <div class="code-head">
        <span aria-hidden="true">{label}</span>
        <CopyButton text={code} what={label} />
      </div>
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{code}</code>
      </pre>
    </div>
  );
}
