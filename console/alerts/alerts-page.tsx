import { PageHead } from '../shell/page-head.tsx';
import { routeUrls } from '../shell/routes.ts';
import { AlertList } from './alert-list.tsx';

/** Lists the alerts of all watches for review, or shows the one to which a message links. */
export function AlertsPage({ alertId }: { alertId?: string | undefined }) {
  if (alertId !== undefined)
    return (
      <>
        <PageHead title="Alert" />
        <p>
          <a href={routeUrls.alerts}>All alerts</a>
        </p>
        <section class="panel flush" aria-label="Alert">
          <AlertList alertId={alertId} />
        </section>
      </>
    );
  return (
    <>
      <PageHead
        title="Alerts"
        lead="Alerts of all watches, newest first. Your reviews give the precision of each condition."
      />
      <section class="panel flush" aria-label="Alerts of all watches">
        <AlertList />
      </section>
    </>
  );
}
