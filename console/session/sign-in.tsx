import { useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { Button } from '../parts/button.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { Field, SecretInput } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Logo } from '../shell/logo.tsx';
import { ThemeToggle } from '../shell/theme-toggle.tsx';

type Props = {
  onKey: (key: string) => void;
  busy: boolean;
  problem?: Problem;
  /** Why somebody who was signed in is here again. */
  notice?: string;
};

const readKey = `node -p 'require("./.watchpost/watchpost.json").api_key'`;

export function SignIn({ onKey, busy, problem, notice }: Props) {
  const [text, setText] = useState('');
  const key = text.trim();
  const submit = (event: Event) => {
    event.preventDefault();
    if (key !== '' && !busy) onKey(key);
  };
  return (
    <div class="sign-in">
      <header class="sign-in-top">
        <Logo />
        <ThemeToggle />
      </header>
      <main class="sign-in-card" id="main">
        <h1>Sign in</h1>
        <p class="muted">Paste an API key of this Watchpost.</p>
        {notice !== undefined && !problem && (
          <p class="note" role="status">
            {notice}
          </p>
        )}
        {problem && <ProblemNote problem={explained(problem)} />}
        <form onSubmit={submit} class="stack">
          <Field label="API key" hint="Begins with wp_">
            {(id) => <SecretInput {...id} value={text} onValue={setText} autoFocus />}
          </Field>
          <Button kind="primary" type="submit" busy={busy} disabled={key === ''} wide>
            Sign in
          </Button>
        </form>
        <p class="small muted">
          The key stays in this page’s memory and is sent to this host only. It is never stored, so a reload
          asks for it again.
        </p>
        <details class="where">
          <summary>Where do I find my key?</summary>
          <div class="stack">
            <p>
              <code>npm start</code> makes your first keys and writes them to{' '}
              <code>.watchpost/watchpost.json</code>, in the folder where it was started:
            </p>
            <CodeBlock code={readKey} label="In a terminal, prints the key" wraps />
            <p>
              <code>internal_api_key</code> in the same file opens Operations and other callers’ keys too.
              Where an operator runs Watchpost for you, ask them for a key.
            </p>
          </div>
        </details>
      </main>
    </div>
  );
}

function explained(problem: Problem) {
  if (problem.status !== 401) return problem;
  return {
    message: 'This key is not accepted',
    remedy: 'Check that it was copied whole, and that it was not revoked.',
    code: problem.code,
  };
}
