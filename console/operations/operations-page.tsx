import { PageHead } from '../shell/page-head.tsx';
import { readChecks } from '../shell/health-banner.tsx';
import { LogPanel } from './log-panel.tsx';
import { MetricsPanels } from './metrics-panels.tsx';
import { useResource } from '../api/use-resource.ts';
import type { Alarm } from '../api/types.ts';
import { Badge, type Tone } from '../parts/badge.tsx';
import { TableHead, Panel, Skeleton } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { When } from '../time/when.tsx';

const everyMs = 30_000;

const tones: Record<Alarm['state'], Tone> = { ok: 'good', alarm: 'bad', unknown: 'neutral' };

/** Shows the CloudWatch alarms of the service. */
function AlarmsPanel() {
  const { api } = useSession();
  const { value, problem, reload } = useResource((signal) => api.alarms(signal), [], everyMs);
  return (
    <Panel title="Alarms">
      {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
      {value === undefined && !problem && <Skeleton rows={2} />}
      {value === null && (
        <p class="muted">
          Alarms need CloudWatch, so this one-machine service has none. See the failures above and the log
          below.
        </p>
      )}
      {value && <AlarmTable alarms={value} />}
    </Panel>
  );
}

const checkTones: Record<string, Tone> = { ok: 'good', warning: 'warn', failed: 'bad' };

/** Shows the checks of the service itself: model, disk, media, clock, watches. */
function ChecksPanel() {
  const { value = [] } = useResource(readChecks, [], everyMs);
  // AWS has alarms instead.
  if (value.length === 0) return null;
  return (
    <Panel title="Checks">
      <table class="table cards">
        <TableHead columns={['Check', 'State', 'Result']} />
        <tbody>
          {value.map(({ check, status, message, next }) => (
            <tr key={check}>
              <th scope="row">{check}</th>
              <td data-label="State">
                <Badge tone={checkTones[status] ?? 'neutral'}>{status}</Badge>
              </td>
              <td data-label="Result">
                {message}
                {next !== null && <span class="small muted"> {next}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

/** Lists alarms in state `alarm` first. */
function AlarmTable({ alarms }: { alarms: Alarm[] }) {
  const inOrder = alarms.toSorted(
    (a, b) => Number(b.state === 'alarm') - Number(a.state === 'alarm') || a.name.localeCompare(b.name),
  );
  return (
    <table class="table cards">
      <TableHead columns={['Alarm', 'State', 'Since']} />
      <tbody>
        {inOrder.map(({ name, state, description, since }) => (
          <tr key={name}>
            <th scope="row">
              <strong>{name}</strong>
              <span class="small muted">{description}</span>
            </th>
            <td data-label="State">
              <Badge tone={tones[state]}>{state}</Badge>
            </td>
            <td data-label="Since">{since === null ? <span class="muted">–</span> : <When at={since} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Shows metrics, alarms and log of all callers, for operators. */
export function OperationsPage() {
  return (
    <>
      <PageHead title="Operations" lead="Metrics, alarms and log of all callers." />
      <div class="stack gap-5">
        <MetricsPanels />
        <ChecksPanel />
        <AlarmsPanel />
        <LogPanel />
      </div>
    </>
  );
}
