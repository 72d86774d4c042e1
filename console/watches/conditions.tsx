import { withoutDisclosure } from '../alerts/alert-texts.ts';
import type { ConditionState, Watch, WatchStats } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { Clock, When } from '../time/when.tsx';
import { Unsure } from './unsure.tsx';
import {
  conditionLabel,
  conditionsWithState,
  precisionText,
  rulesText,
  severityTones,
  visitLabel,
} from './watch-labels.ts';

type Props = { watch: Watch; stats: WatchStats | undefined; onChange: () => void };

/** Shows the conditions of a watch with state, rules and reviewed precision. */
export function Conditions({ watch, stats, onChange }: Props) {
  const session = useSession();
  const { api } = session;
  const waking = useAction(async (conditionId: string) => {
    await api.snoozeWatch(watch.watch_id, 0, conditionId);
    onChange();
  });
  return (
    <Panel title="Conditions">
      {waking.problem && <ProblemNote problem={waking.problem} />}
      <ul class="stack divided">
        {conditionsWithState(watch).map(({ condition, state }) => (
          <li key={condition.condition_id}>
            <div class="spread titled">
              <strong>{condition.condition}</strong>
              <span class="row gap-1">
                {state && <State state={state} status={watch.status} />}
                <Badge tone={severityTones[condition.severity]}>{condition.severity}</Badge>
              </span>
            </div>
            {state?.explanation && <p>{withoutDisclosure(state.explanation)}</p>}
            <p class="small muted">
              {rulesText(condition)} {state && <Sight state={state} isChecked={watch.state.last_check > 0} />}{' '}
              <Precision id={condition.condition_id} stats={stats} />
            </p>
            {state?.holding_since && (
              <p class="small">
                Holding since <When at={state.holding_since} />
              </p>
            )}
            <Unsure watch={watch} condition={condition} stats={stats} />
            {state?.snoozed_until && Date.parse(state.snoozed_until) > Date.now() && (
              <p class="small">
                Snoozed until <Clock at={state.snoozed_until} />: it opens no alert.{' '}
                {mayUse(session, 'jobs') && (
                  <Button small busy={waking.busy} onClick={() => void waking.run(condition.condition_id)}>
                    End snooze<span class="visually-hidden"> of {condition.condition}</span>
                  </Button>
                )}
              </p>
            )}
          </li>
        ))}
      </ul>
      <p class="small muted">{visitLabel(watch)}</p>
    </Panel>
  );
}

function State({ state, status }: { state: ConditionState; status: Watch['status'] }) {
  const { label, tone } = conditionLabel(state, status);
  return (
    <Badge tone={tone} dot={state.state === 'open'}>
      {label}
    </Badge>
  );
}

/** Says when a condition held last, as far as its alerts say, and when it was checked last. */
function Sight({ state, isChecked }: { state: ConditionState; isChecked: boolean }) {
  const { opened_at: opened, held_at: held, last_opened_at: last, seen_at: checked } = state;
  const times = [
    ['Open since', opened],
    ['Last held', held],
    ['Last alert', opened === null ? last : null],
    ['Last check', isChecked ? checked : null],
  ] as const;
  return (
    <>
      {times.map(
        ([name, time]) =>
          time !== null && (
            <span key={name}>
              {name} <When at={time} />.{' '}
            </span>
          ),
      )}
      {!isChecked && 'No check yet.'}
    </>
  );
}

function Precision({ id, stats }: { id: string; stats: WatchStats | undefined }) {
  const precision = stats?.precision.find(({ condition_id: each }) => each === id);
  if (!precision || precision.precision === null) return null;
  return (
    <>
      {precision.correct} of {precision.reviewed} reviewed alerts right:{' '}
      {precisionText(precision.precision, precision.interval)}.
    </>
  );
}
