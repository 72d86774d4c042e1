import type { Watch, WatchStats } from '../api/types.ts';
import { percent } from '../jobs/job-labels.ts';
import { Panel } from '../parts/panel.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Stat, Stats } from '../parts/stat.tsx';
import { countOpen, visitLabel } from './watch-labels.ts';

type Counters = WatchStats['total'];

/** Shows the statistics of the last seven days. */
export function WatchFacts({ watch, stats: { total } }: { watch: Watch; stats: WatchStats }) {
  const open = countOpen(watch);
  const captures = total.checks + total.skipped;
  const { budget } = watch.state;
  return (
    <>
      <Stats>
        <Stat
          label="Open alerts"
          value={<span class={open > 0 ? 'fired' : ''}>{open}</span>}
          note={`${total.alerts_opened} opened in 7 days`}
        />
        <Stat
          label="Checks"
          value={total.checks.toLocaleString()}
          note={total.not_judged > 0 ? `${total.not_judged} verdicts not judged` : '7 days'}
        />
        <Stat
          label="Skipped"
          value={captures === 0 ? '–' : percent(total.skipped / captures)}
          note={`${total.skipped} of ${captures} captures`}
        />
        <Stat label="Coverage" value={coverageText(total)} note="7 days" />
        <Stat
          label="Cost"
          value={dollars(total.usd)}
          note={
            budget
              ? `Today: ${budget.model_calls} calls, ${dollars(budget.usd)}`
              : `${total.model_calls} model calls`
          }
        />
      </Stats>
      <p class="small muted">{visitLabel(watch)}</p>
    </>
  );
}

/** Shows the statistics by day. */
export function WatchDays({ stats: { days } }: { stats: WatchStats }) {
  return (
    <Panel title="Days" aside="UTC">
      {days.length === 0 ? (
        <p class="muted">No checks in the last seven days.</p>
      ) : (
        <table class="table watch-days">
          <TableHead
            columns={['Day', 'Checks', 'Alerts', 'Coverage', 'Cost']}
            numbers={['Checks', 'Alerts', 'Coverage', 'Cost']}
          />
          <tbody>
            {days.toReversed().map((day) => (
              <tr key={day.day}>
                <th scope="row">{day.day.slice(5)}</th>
                <td class="number">{day.checks}</td>
                <td class="number">{day.alerts_opened}</td>
                <td class="number">{coverageText(day)}</td>
                <td class="number">{dollars(day.usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function coverageText({ coverage }: Counters): string {
  return coverage === null ? '–' : percent(coverage);
}

function dollars(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 1 ? 4 : 2)}`;
}
