import { Badge } from '../parts/badge.tsx';
import { Panel } from '../parts/panel.tsx';

/** Where alarms are. The API has none to show yet, so their state is read where they live. */
export function Alarms() {
  return (
    <Panel title="Alarms" aside={<Badge>not on this host</Badge>}>
      <p class="muted">
        Alarms are CloudWatch’s: on AWS they are in the dashboard of the stack. On one machine there are none;
        watch the failures above and the log below.
      </p>
    </Panel>
  );
}
