import { useEffect, useRef, useState } from 'preact/hooks';
import { withoutDisclosure } from '../alerts/alert-texts.ts';
import type { BacktestAlert, BacktestRequest, BacktestResult } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { useResource } from '../api/use-resource.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { pluralize } from '../time/format.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { useSession } from '../session/session.ts';
import { When } from '../time/when.tsx';
import { callsText } from '../try/price.ts';
import { runBacktest } from './run-backtest.ts';
import type { ConditionDraft } from './watch-draft.ts';

/** Shows what trying a condition on the past costs, then the alerts that it would have opened. */
export function Backtest({ watchId, condition }: { watchId: string; condition: ConditionDraft }) {
  const { api } = useSession();
  const [played, setPlayed] = useState<BacktestResult[]>([]);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const send = (body: BacktestRequest, signal: AbortSignal) =>
    api.backtestWatch(watchId, { ...body, conditions: [condition] }, signal);
  const { value, problem, reload } = useResource((signal) => send({ estimate: true }, signal), []);
  const playing = useAction(async (maxCalls: number) => {
    setPlayed([]);
    const { signal } = abort.current;
    // Moments after the estimate have no part in its price.
    const play: typeof send = (body, each) => send({ ...body, ...(value && { to: value.to }) }, each);
    await runBacktest(play, maxCalls, (result) => setPlayed((before) => [...before, result]), signal);
  });
  const newest = played.at(-1);
  if (problem) return <ProblemNote problem={problem} onRetry={reload} />;
  const estimate = value?.estimate;
  return (
    <section class="stack" aria-label="On the past">
      <p role="status">{describeProgress(estimate, newest)}</p>
      {estimate && !newest && (
        <div class="row">
          <Button busy={playing.busy} onClick={() => void playing.run(estimate.model_calls)}>
            Play the past
          </Button>
        </div>
      )}
      {playing.problem && (
        <ProblemNote problem={playing.problem} onRetry={() => void playing.run(estimate?.model_calls ?? 0)} />
      )}
      {newest && <PlayedAlerts played={played} newest={newest} />}
    </section>
  );
}

function describeProgress(
  estimate: BacktestResult['estimate'] | undefined,
  newest: BacktestResult | undefined,
): string {
  if (newest) {
    const cost = `${newest.sentence} ${callsText(newest)}.`;
    if (newest.stopped === 'calls') return `${cost} It ended before the end: the estimate was too low.`;
    return newest.stopped === 'model' ? `${cost} It ended before the end: the model failed.` : cost;
  }
  if (!estimate) return 'Reading the memory…';
  return `${estimate.exact ? '' : 'About '}${pluralize(estimate.moments, 'moment')}: ${callsText(estimate)}.`;
}

/** Alerts that are shown together: the pictures of a page are kept, not those of a week. */
const pageSize = 24;

/** Shows the alerts of a backtest in pages, newest first. */
function PlayedAlerts({ played, newest }: { played: BacktestResult[]; newest: BacktestResult }) {
  const [begin, setBegin] = useState(0);
  const possible = new Set(played.flatMap((result) => result.possible));
  const alerts = [...played.flatMap((result) => result.alerts), ...newest.open, ...possible].toSorted(
    (one, other) => (one.opened_at < other.opened_at ? 1 : -1),
  );
  const end = begin + pageSize;
  return (
    <>
      <ul class="watch-board" aria-label="Alerts that it would have opened">
        {alerts.slice(begin, end).map((alert) => (
          <PlayedAlert
            key={`${possible.has(alert)} ${alert.opened_at}`}
            alert={alert}
            isPossible={possible.has(alert)}
          />
        ))}
      </ul>
      {alerts.length > pageSize && (
        <div class="row">
          <Button small disabled={begin === 0} onClick={() => setBegin(begin - pageSize)}>
            Show later alerts
          </Button>
          <Button small disabled={end >= alerts.length} onClick={() => setBegin(end)}>
            Show earlier alerts
          </Button>
        </div>
      )}
    </>
  );
}

function PlayedAlert({ alert, isPossible = false }: { alert: BacktestAlert; isPossible?: boolean }) {
  const text = withoutDisclosure(alert.explanation);
  const shown = alert.moments.find(({ picture_url: picture }) => picture !== null);
  return (
    <li class="panel watch-card">
      {shown && <ProtectedPicture path={`/moments/${shown.moment_id}/picture`} alt={text} />}
      <div class="stack gap-3">
        <p class="spread titled">
          <When at={alert.opened_at} />
          {isPossible && <Badge>possible: no picture confirms it</Badge>}
        </p>
        <p class="small muted">{text}</p>
      </div>
    </li>
  );
}
