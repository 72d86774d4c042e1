import type { Scope } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { Logo } from './logo.tsx';
import { routeUrls, type Route } from './routes.ts';
import { ThemeToggle } from './theme-toggle.tsx';
import { useResource } from '../api/use-resource.ts';

/** Renders the navigation beside the page. On a phone its head is above the page and its links are below it. */
export function Sidebar({ route }: { route: Route }) {
  const session = useSession();
  const { me, signOut } = session;
  const current = sections[route.page] ?? route.page;
  return (
    <header class="sidebar">
      <div class="spread">
        <a href={routeUrls.look} aria-label="Watchpost, to Try">
          <Logo />
        </a>
        <div class="row">
          <ThemeToggle />
          <Button kind="quiet" label="Sign out" onClick={signOut}>
            <Icon name="out" />
          </Button>
        </div>
      </div>
      <nav aria-label="Pages">
        {links
          .filter(({ scope }) => mayUse(session, scope))
          .map(({ page, address, name, icon }) => (
            <a
              key={page}
              class="page-link"
              href={address}
              aria-current={page === current ? 'page' : undefined}
            >
              <Icon name={icon} />
              {name}
              {page === 'alerts' && <OpenAlerts />}
            </a>
          ))}
      </nav>
      <div class="stack gap-3 sidebar-foot">
        <a class="page-link" href="/docs" target="_blank" rel="noreferrer">
          <Icon name="book" />
          API reference
        </a>
        <div class="stack gap-1 framed" aria-label="Signed in with" role="group">
          <strong class="one-line" title={me.caller}>
            {me.caller}
          </strong>
          <span class="small muted">{me.label ?? me.prefix}</span>
          <span class="row gap-1">
            {me.scopes.map((scope) => (
              <Badge key={scope}>{scope}</Badge>
            ))}
          </span>
        </div>
      </div>
    </header>
  );
}

/** Page of the navigation that a detail page belongs to. */
const sections: { [Page in Route['page']]?: Route['page'] } = { job: 'jobs', watch: 'watches' };

type Link = { page: Route['page']; address: string; name: string; icon: IconName; scope: Scope };

const links: Link[] = [
  { page: 'look', address: routeUrls.look, name: 'Try', icon: 'look', scope: 'jobs' },
  { page: 'watches', address: routeUrls.watches, name: 'Watches', icon: 'camera', scope: 'read' },
  { page: 'alerts', address: routeUrls.alerts, name: 'Alerts', icon: 'bell', scope: 'read' },
  { page: 'timeline', address: routeUrls.timeline, name: 'Time line', icon: 'pulse', scope: 'read' },
  { page: 'search', address: routeUrls.search, name: 'Search', icon: 'search', scope: 'jobs' },
  { page: 'jobs', address: routeUrls.jobs, name: 'Jobs', icon: 'jobs', scope: 'read' },
  { page: 'keys', address: routeUrls.keys, name: 'Keys', icon: 'key', scope: 'keys' },
  { page: 'operations', address: routeUrls.operations, name: 'Operations', icon: 'pulse', scope: 'internal' },
];

const everyMs = 5_000;
const maxCounted = 99;

/** Shows the number of open alerts beside their link; nothing if none is open. */
function OpenAlerts() {
  const { api } = useSession();
  const { value: alerts = [] } = useResource(
    async (signal) => (await api.alerts({ state: 'open', limit: maxCounted + 1 }, signal)).alerts,
    [],
    everyMs,
  );
  if (alerts.length === 0) return null;
  return (
    <span class="badge alert count number">
      {alerts.length > maxCounted ? `${maxCounted}+` : alerts.length}
      <span class="visually-hidden"> open</span>
    </span>
  );
}
