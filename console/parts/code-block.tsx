import { CopyButton } from './copy-button.tsx';

/** Code to take along. It scrolls in itself, so it can be focused. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} what={label} />
    </div>
  );
}
