import { PageHead } from '../shell/page-head.tsx';
import { AlertList } from './alert-list.tsx';

/** Lists the alerts of all watches for review. */
export function AlertsPage() {
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
