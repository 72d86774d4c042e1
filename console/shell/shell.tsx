import { useEffect, useRef } from 'preact/hooks';
import { AlertsPage } from '../alerts/alert-list.tsx';
import { JobPage } from '../jobs/job-page.tsx';
import { JobsPage } from '../jobs/jobs-page.tsx';
import { KeysPage } from '../keys/keys-page.tsx';
import { TimelinePage } from '../timeline/time-line.tsx';
import { TryPage } from '../try/try-page.tsx';
import { OperationsPage } from '../operations/operations-page.tsx';
import { EmptyState } from '../parts/panel.tsx';
import { SearchPage } from '../search/search-page.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { WatchPage } from '../watches/watch-page.tsx';
import { WatchesPage } from '../watches/watches-page.tsx';
import { HealthBanner } from './health-banner.tsx';
import { Sidebar } from './sidebar.tsx';
import { useRoute, type Route } from './routes.ts';
import type { Scope } from '../api/types.ts';
import { Button } from '../parts/button.tsx';

/** Renders the sidebar, main region and document title of every page behind the sign-in. */
export function Shell() {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const place = findPlace(route);
  const arrived = useRef(place);
  useEffect(() => {
    document.title = `${titles[route.page]} · Watchpost`;
    // Moves the focus after navigation, so that a screen reader announces the new page.
    if (arrived.current !== place) main.current?.focus();
    arrived.current = place;
    scrollTo(0, 0);
  }, [place]);
  return (
    <div class="shell">
      <button type="button" class="skip-link" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Sidebar route={route} />
      <main class="page" ref={main} tabIndex={-1} aria-label={titles[route.page]}>
        <HealthBanner />
        <Page route={route} />
      </main>
    </div>
  );
}

function findPlace(route: Route): string {
  if (route.page === 'job') return route.jobId;
  return route.page === 'watch' ? route.watchId : route.page;
}

const titles: Record<Route['page'], string> = {
  home: 'Watches',
  look: 'Try',
  jobs: 'Jobs',
  job: 'Job',
  watches: 'Watches',
  watch: 'Watch',
  alerts: 'Alerts',
  timeline: 'Time line',
  search: 'Search',
  keys: 'Keys',
  operations: 'Operations',
  'sign-in': 'Sign in',
  unknown: 'Not found',
};

function Page({ route }: { route: Route }) {
  const session = useSession();
  switch (route.page) {
    case 'home':
      // A new owner has nothing to look at yet.
      return mayUse(session, 'jobs') ? <TryPage /> : <WatchesPage />;
    case 'look':
      return mayUse(session, 'jobs') ? <TryPage /> : <NeedsScope scope="jobs" />;
    case 'jobs':
      return mayUse(session, 'read') ? <JobsPage /> : <NeedsScope scope="read" />;
    case 'job':
      return mayUse(session, 'read') ? (
        <JobPage key={route.jobId} jobId={route.jobId} />
      ) : (
        <NeedsScope scope="read" />
      );
    case 'watches':
      return mayUse(session, 'read') ? <WatchesPage /> : <NeedsScope scope="read" />;
    case 'watch':
      return mayUse(session, 'read') ? (
        <WatchPage key={route.watchId} watchId={route.watchId} />
      ) : (
        <NeedsScope scope="read" />
      );
    case 'alerts':
      return mayUse(session, 'read') ? (
        <AlertsPage key={route.alertId} alertId={route.alertId} />
      ) : (
        <NeedsScope scope="read" />
      );
    case 'timeline':
      return mayUse(session, 'read') ? <TimelinePage /> : <NeedsScope scope="read" />;
    case 'search':
      return mayUse(session, 'jobs') ? <SearchPage /> : <NeedsScope scope="jobs" />;
    case 'keys':
      return mayUse(session, 'keys') ? <KeysPage /> : <NeedsScope scope="keys" />;
    case 'operations':
      return mayUse(session, 'internal') ? <OperationsPage /> : <NeedsScope scope="internal" />;
    case 'sign-in':
    case 'unknown':
      return (
        <EmptyState icon="look" title="Page not found">
          <p class="muted">
            <a href="#/try">Go to Try</a>
          </p>
        </EmptyState>
      );
  }
}

/** Replaces a page that requires a scope that the key does not have. */
function NeedsScope({ scope }: { scope: Scope }) {
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
