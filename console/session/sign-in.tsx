import { useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { Button } from '../parts/button.tsx';
import { CodeBlock } from '../parts/panel.tsx';
import { Field, SecretInput } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Logo } from '../shell/logo.tsx';
import { ThemeToggle } from '../shell/theme-toggle.tsx';

type Props = {
  onKey: (key: string) => void;
  busy: boolean;
  problem?: Problem;
  /** Reason for the end of the previous session. */
  notice?: string;
};

const readKey = `node -p 'require("./.watchpost/watchpost.json").api_key'`;

/** Shows the sign-in form with instructions to find a key. */
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
          The page keeps the key in memory and sends it only to this host. It never stores the key, so sign in
          again after a reload.
        </p>
        <KeyHelp />
      </main>
    </div>
  );
}

function KeyHelp() {
  return (
    <details class="where">
      <summary>Where do I find my key?</summary>
      <div class="stack">
        <p>
          <code>npm start</code> creates your first keys and writes them to{' '}
          <code>.watchpost/watchpost.json</code>, in its working directory:
        </p>
        <CodeBlock code={readKey} label="Print the key in a terminal" wraps />
        <p>
          <code>internal_api_key</code> in the same file also opens Operations and the keys of other callers.
          A key with the scope <code>read</code> opens Jobs only. If an operator runs Watchpost for you,
          request a key from them.
        </p>
      </div>
    </details>
  );
}

function explained(problem: Problem) {
  if (problem.status !== 401) return problem;
  return {
    message: 'This key is not valid',
    remedy: 'Check that the key is complete and not revoked.',
    code: problem.code,
  };
}
