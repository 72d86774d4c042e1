import { PageHead } from '../shell/page-head.tsx';
import { Alarms } from './alarms.tsx';
import { LogPanel } from './log-panel.tsx';
import { MetricsPanels } from './metrics-panels.tsx';

/** The service over all callers, for who runs it. */
export function OperationsPage() {
  return (
    <>
      <PageHead title="Operations" lead="The whole service, over all callers." />
      <div class="stack wide-gap">
        <MetricsPanels />
        <Alarms />
        <LogPanel />
      </div>
    </>
  );
}
