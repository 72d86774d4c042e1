import { withoutDisclosure } from './alert-texts.ts';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Alert } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, TextInput } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { routeUrls } from '../shell/routes.ts';
import { duration, exactTime, pluralize } from '../time/format.ts';
import { When } from '../time/when.tsx';
import { closedLabel, severityTones } from '../watches/watch-labels.ts';
import { ClipPlayer } from './clip-player.tsx';
import type { ReviewAction } from './alert-keys.ts';

type Props = {
  alert: Alert;
  /** True on a page of its own, which shows the clip too. */
  alone: boolean;
  /** True on the page of the watch, which names the watch. */
  ofWatch: boolean;
  selected: boolean;
  note: string;
  /** True if the key may review. */
  reviews: boolean;
  busy: boolean;
  onSelect: () => void;
  onNote: (note: string) => void;
  onAction: (action: ReviewAction) => void;
};

/** Shows an alert with its evidence and review. */
export function AlertCard({
  alert,
  alone,
  ofWatch,
  selected,
  note,
  reviews,
  busy,
  onSelect,
  onNote,
  onAction,
}: Props) {
  const { review } = alert;
  const actions = reviews && <Actions alert={alert} busy={busy && selected} onAction={onAction} />;
  return (
    <li
      class={selected ? 'alert-card selected' : 'alert-card'}
      data-alert={alert.alert_id}
      tabIndex={-1}
      aria-current={selected}
      // Not with the pointer: the note of the card above would leave before the click, and move this one from under it.
      onFocusCapture={(event) => isKeyboardFocus(event.target) && onSelect()}
      onClick={onSelect}
      onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.focus()}
    >
      <Picture alert={alert} actions={actions} />
      <div class="stack gap-1 grow">
        <p class="row">
          <When at={alert.opened_at} />
          <strong>{alert.condition}</strong>
          {!ofWatch && <a href={routeUrls.watch(alert.watch_id)}>{alert.watch_name}</a>}
          <AlertState alert={alert} />
        </p>
        <p class="small muted one-line">
          {withoutDisclosure(alert.explanation)}
          {alert.reminders > 0 && ` · ${pluralize(alert.reminders, 'reminder')}`}
          {alert.acknowledged && ` · acknowledged with the key “${alert.acknowledged.by}”`}
        </p>
        {selected && reviews && (
          <Field label="Note">
            {(ids) => <TextInput {...ids} value={note} onValue={onNote} maxLength={500} />}
          </Field>
        )}
        {!(selected && reviews) && review && review.note !== '' && <p class="small">“{review.note}”</p>}
        {actions}
        {alone && <ClipPlayer alert={alert} />}
      </div>
    </li>
  );
}

type ActionsProps = Pick<Props, 'alert' | 'busy' | 'onAction'>;

function Actions({ alert: { condition, acknowledged }, busy, onAction }: ActionsProps) {
  const actions = [
    ['right', 'Right'],
    ['wrong', 'Wrong'],
    ...(acknowledged ? [] : [['acknowledge', 'Acknowledge'] as const]),
  ] as const;
  return (
    <div class="row">
      {actions.map(([action, label]) => (
        <Button key={action} small busy={busy} onClick={() => onAction(action)}>
          {label}
          <span class="visually-hidden"> {condition}</span>
        </Button>
      ))}
    </div>
  );
}

function isKeyboardFocus(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches(':focus-visible');
}

function AlertState({ alert }: { alert: Alert }) {
  const { review, closed } = alert;
  return (
    <span class="row gap-1">
      <Badge tone={alert.state === 'open' ? 'alert' : 'neutral'} dot={alert.state === 'open'}>
        {closed ? closedLabel(closed) : `open for ${duration(alert.open_seconds)}`}
      </Badge>
      <Badge tone={severityTones[alert.severity]}>{alert.severity}</Badge>
      {alert.acknowledged && <Badge tone="accent">acknowledged</Badge>}
      {review && <Badge tone={review.correct ? 'good' : 'bad'}>{review.correct ? 'right' : 'wrong'}</Badge>}
    </span>
  );
}

function Picture({ alert, actions }: { alert: Alert; actions: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const boxes = alert.boxes ?? [];
  const path = `/alerts/${alert.alert_id}/frame${boxes.length === 0 ? '' : '?boxes=true'}`;
  const frame = (alt: string) =>
    alert.frame_url === null ? (
      <span class="picture missing" role="img" aria-label="No frame was left">
        <Icon name="camera" />
      </span>
    ) : (
      <ProtectedPicture path={path} alt={alt} saysWhy />
    );
  return (
    <>
      <button type="button" class="evidence-open" onClick={() => setOpen(true)}>
        {frame('Evidence frame')}
        <span class="visually-hidden">Open the evidence of {alert.condition}</span>
      </button>
      {open && (
        <Dialog title="Evidence" wide onClose={() => setOpen(false)}>
          <p>
            <strong>{alert.watch_name}</strong> {exactTime(alert.opened_at)} <AlertState alert={alert} />
          </p>
          {actions}
          {frame(`Evidence: ${alert.explanation}`)}
          <ClipPlayer alert={alert} />
          <p class="quoted">“{alert.condition}”</p>
          <p>{alert.explanation}</p>
          {alert.closed?.explanation && <p>Closed: {alert.closed.explanation}</p>}
          {boxes.length > 0 && (
            <p class="small muted">
              Boxes: {boxes.map(({ label, score }) => `${label} ${score.toFixed(2)}`).join(', ')}
            </p>
          )}
          <ul class="small muted" aria-label="Checks that counted">
            {alert.checks.map(({ checked_at: checkedAt, triggered }) => (
              <li key={checkedAt}>
                {exactTime(checkedAt)}: {triggered ? 'holds' : 'does not hold'}
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </>
  );
}
