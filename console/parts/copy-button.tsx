import { useEffect, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

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
