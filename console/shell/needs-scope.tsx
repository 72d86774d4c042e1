import type { Scope } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { useSession } from '../session/session.ts';

/** Replaces a page that requires a scope that the key does not have. */
export function NeedsScope({ scope }: { scope: Scope }) {
  const { me, signOut } = useSession();
  return (
    <EmptyState icon="key" title="This key has no access to this page">
      <p class="muted">
        The page requires the scope <code>{scope}</code>; your key has <code>{me.scopes.join(', ')}</code>.
      </p>
      <Button onClick={signOut}>Sign in with another key</Button>
    </EmptyState>
  );
}
