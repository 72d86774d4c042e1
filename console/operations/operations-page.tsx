import { PageHead } from '../shell/page-head.tsx';
import { AlarmsPanel } from './alarms.tsx';
import { LogPanel } from './log-panel.tsx';
import { MetricsPanels } from './metrics-panels.tsx';

/** Shows metrics, alarms and log of all callers, for operators. */
export function OperationsPage() {
  return (
    <>
      <PageHead title="Operations" lead="Metrics, alarms and log of all callers." />
      <div class="stack wide-gap">
        <MetricsPanels />
        <AlarmsPanel />
        <LogPanel />
      </div>
    </>
  );
}
