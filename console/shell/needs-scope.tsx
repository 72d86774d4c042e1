import type { Scope } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { useSession } from '../session/session.ts';

/** In place of a page that the key does not open. */
export function NeedsScope({ scope }: { scope: Scope }) {
  const { me, signOut } = useSession();
  return (
    <EmptyState icon="key" title="This key does not open this page">
      <p class="muted">
        It needs the scope <code>{scope}</code>; yours has <code>{me.scopes.join(', ')}</code>.
      </p>
      <Button onClick={signOut}>Sign in with another key</Button>
    </EmptyState>
  );
}
