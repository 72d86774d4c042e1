import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { withoutDisclosure } from '../alerts/alert-texts.ts';
import type { Moment, Watch } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../parts/button.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field, Select } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { routeUrls } from '../shell/routes.ts';
import { When } from '../time/when.tsx';
import { AlertMeButton } from '../watches/alert-me.tsx';

export function describeMoment({ scene, verdicts }: Moment): string {
  return scene ?? withoutDisclosure(verdicts[0]?.explanation ?? '');
}

type CardProps = ActionProps & {
  /** Name of the watch; default: of the one in `watches`. */
  name?: string;
  children?: ComponentChildren;
};

/** Shows a moment as its picture, and what a person does about it. */
export function MomentCard({ name, children, ...actions }: CardProps) {
  const { moment, watches } = actions;
  const text = describeMoment(moment);
  const watch = watches.find(({ watch_id: id }) => id === moment.watch_id);
  return (
    <li class="panel watch-card">
      {moment.picture_url !== null && (
        <ProtectedPicture path={`/moments/${moment.moment_id}/picture`} alt={text} />
      )}
      <div class="stack gap-3">
        <p class="spread titled">
          <a href={routeUrls.watch(moment.watch_id)}>{name ?? watch?.name ?? 'Watch'}</a>{' '}
          <When at={moment.at} />
        </p>
        {text !== '' && <p class="small muted">{text}</p>}
        {children}
        <MomentActions {...actions} />
      </div>
    </li>
  );
}

type ActionProps = {
  moment: Moment;
  watches: Watch[];
  /** Words of a new condition; default: what the moment shows. */
  words?: string;
};

/** Renders "You missed this", whose condition is chosen if there are several, and "Alert me about this". */
export function MomentActions({ moment, watches, words = moment.scene ?? '' }: ActionProps) {
  const session = useSession();
  const [reviewed, setReviewed] = useState(moment);
  const [isChoosing, setChoosing] = useState(false);
  const reviewing = useAction(async (conditionId: string) => {
    const review = { condition_id: conditionId, holds: true };
    setReviewed(await session.api.reviewMoment(moment.moment_id, review));
    setChoosing(false);
  });
  const watch = watches.find(({ watch_id: id }) => id === moment.watch_id);
  const [only, ...others] = watch?.conditions ?? [];
  if (!only || !mayUse(session, 'jobs')) return null;
  const miss = () => (others.length > 0 ? setChoosing(true) : void reviewing.run(only.condition_id));
  return (
    <>
      <div role="status" class="small">
        {reviewed.reviews
          ?.filter(({ holds }) => holds)
          .map(({ condition_id: id, condition, missed }) => (
            <p key={id}>{missed ? `Missed: ${condition}` : `An alert was open then: ${condition}`}</p>
          ))}
      </div>
      <div class="row">
        <Button small busy={reviewing.busy} onClick={miss}>
          You missed this
        </Button>
        <AlertMeButton small watches={watches} watchId={moment.watch_id} words={words} />
      </div>
      {!isChoosing && reviewing.problem && <ProblemNote problem={reviewing.problem} />}
      {isChoosing && (
        <MissedCondition
          conditions={[only, ...others]}
          action={reviewing}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  );
}

type MissedProps = {
  conditions: Watch['conditions'];
  action: ReturnType<typeof useAction<[string]>>;
  onClose: () => void;
};

function MissedCondition({ conditions, action, onClose }: MissedProps) {
  const [chosen, setChosen] = useState(conditions[0]?.condition_id ?? '');
  const options = conditions.map(({ condition_id: value, condition: label }) => ({ value, label }));
  return (
    <Dialog title="Which condition holds here?" onClose={onClose}>
      <Field label="Condition">
        {(ids) => <Select {...ids} value={chosen} onValue={setChosen} options={options} />}
      </Field>
      <DialogActions action={action} onClose={onClose} onRun={() => action.run(chosen)}>
        It was missed
      </DialogActions>
    </Dialog>
  );
}
