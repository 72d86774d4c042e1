import { useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import type { Credential } from './begin-session.ts';
import { Button } from '../parts/button.tsx';
import { CodeBlock } from '../parts/panel.tsx';
import { Field, SecretInput } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Logo } from '../shell/logo.tsx';
import { ThemeToggle } from '../shell/theme-toggle.tsx';

type Props = {
  onCredential: (credential: Credential) => void;
  /** Code of the link that was opened. */
  code?: string;
  /** Opens the console without the link, on a device that is signed in already. */
  onSkip?: (() => void) | undefined;
  busy: boolean;
  problem?: Problem;
  /** Reason for the end of the previous session. */
  notice?: string;
};

const readKey = `node -p 'require("./.watchpost/watchpost.json").api_key'`;

/** Shows the sign-in: a button for the code of a link, otherwise a form with instructions to find a key. */
export function SignIn({ onCredential, code, onSkip, busy, problem, notice }: Props) {
  return (
    <div class="sign-in">
      <header class="spread">
        <Logo />
        <ThemeToggle />
      </header>
      <main class="panel stack" id="main">
        <h1>Sign in</h1>
        <p class="muted">
          {code === undefined
            ? 'Paste an API key of this Watchpost.'
            : 'This link signs this device in, once.'}
        </p>
        {notice !== undefined && !problem && (
          <p class="note" role="status">
            {notice}
          </p>
        )}
        {problem && <ProblemNote problem={explained(problem, code !== undefined)} />}
        {code === undefined ? (
          <KeyForm busy={busy} onKey={(key) => onCredential({ key })} />
        ) : (
          <>
            <Button kind="primary" busy={busy} onClick={() => onCredential({ code })} wide>
              Sign in on this device
            </Button>
            {onSkip && (
              <Button onClick={onSkip} wide>
                Stay signed in as before
              </Button>
            )}
          </>
        )}
        <p class="small muted">
          This device stays signed in until you sign out, the key is revoked, or nobody opens the console here
          for 30 days. The browser does not store the key.
        </p>
        {code === undefined && <KeyHelp />}
      </main>
    </div>
  );
}

function KeyForm({ busy, onKey }: { busy: boolean; onKey: (key: string) => void }) {
  const [text, setText] = useState('');
  const key = text.trim();
  const submit = (event: Event) => {
    event.preventDefault();
    if (key !== '' && !busy) onKey(key);
  };
  return (
    <form onSubmit={submit} class="stack">
      <Field label="API key" hint="Begins with wp_">
        {(id) => <SecretInput {...id} value={text} onValue={setText} autoFocus />}
      </Field>
      <Button kind="primary" type="submit" busy={busy} disabled={key === ''} wide>
        Sign in
      </Button>
    </form>
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
          A key with the scope <code>read</code> shows watches, alerts and jobs, and changes nothing. If an
          operator runs Watchpost for you, request a key from them.
        </p>
      </div>
    </details>
  );
}

function explained(problem: Problem, isCode: boolean) {
  if (problem.status !== 401) return problem;
  return {
    message: isCode ? 'This link was used or has expired' : 'This key is not valid',
    remedy: isCode
      ? 'Create a new one on the page Keys of a device that is signed in.'
      : 'Check that the key is complete and not revoked.',
    code: problem.code,
  };
}
