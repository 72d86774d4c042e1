import { useState } from 'preact/hooks';
import type { Watch } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../parts/button.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { NumberFields, prefilterSwitch, Switches } from '../parts/draft-fields.tsx';
import { Field, NumberField, Select, TextArea, TextInput } from '../parts/field.tsx';
import { InputFields } from '../parts/input-fields.tsx';
import { useSession } from '../session/session.ts';
import { ConditionAdvice } from '../try/advice.tsx';
import { DestinationFields } from './destination-fields.tsx';
import { RegionFields } from './region-fields.tsx';
import { localZone, ScheduleFields } from './schedule-fields.tsx';
import { closingOf, newCondition, toWatchDraft, toWatchPatch } from './watch-draft.ts';
import type { ConditionDraft, ScheduleDraft, WatchDraft } from './watch-draft.ts';

const maxConditions = 8;

type Props = { watch: Watch; onDone: (changed: Watch) => void; onClose: () => void };

/** Shows a dialog that changes the fields of a watch. It fails if somebody else changed the watch meanwhile. */
export function EditWatch({ watch, onDone, onClose }: Props) {
  const { api } = useSession();
  // The version that the person sees: later reloads of the page do not change it.
  const [seen] = useState({ version: watch.config_version, draft: toWatchDraft(watch) });
  const [draft, setDraft] = useState(seen.draft);
  const saving = useAction(async () =>
    onDone(await api.changeWatch(watch.watch_id, seen.version, toWatchPatch(seen.draft, draft))),
  );
  const change = (part: Partial<WatchDraft>) => setDraft({ ...draft, ...part });
  const changeField = (field: keyof WatchDraft, value: number | boolean | null) =>
    setDraft({ ...draft, [field]: value });
  const submit = (event: Event) => {
    event.preventDefault();
    void saving.run();
  };
  return (
    <Dialog title="Edit watch" wide closesByClickBeside={false} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <Field label="Name">
          {(ids) => (
            <TextInput
              {...ids}
              value={draft.name}
              onValue={(name) => change({ name })}
              maxLength={120}
              required
            />
          )}
        </Field>
        <Field label="Stream URL" hint="Passwords are masked; the URL stays unless you enter another one">
          {(ids) => (
            <TextInput
              {...ids}
              inputMode="url"
              value={draft.streamUrl}
              onValue={(streamUrl) => change({ streamUrl })}
              required
            />
          )}
        </Field>
        <NumberFields entries={numbers} values={draft} onValue={changeField} />
        <InputFields mode={draft.mode} clipSeconds={draft.clipSeconds} onChange={change} />
        <Switches entries={switches} values={draft} onValue={changeField} />
        {draft.conditions.map((condition, index) => (
          <ConditionFields
            key={condition.condition_id ?? index}
            number={index + 1}
            condition={condition}
            onChange={(next) => change({ conditions: draft.conditions.with(index, next) })}
            onRemove={
              draft.conditions.length > 1
                ? () => change({ conditions: draft.conditions.toSpliced(index, 1) })
                : undefined
            }
            onSchedule={(spans) => change({ schedule: { timeZone: localZone(), spans } })}
          />
        ))}
        {draft.conditions.length < maxConditions && (
          <Button onClick={() => change({ conditions: [...draft.conditions, newCondition] })}>
            Add condition
          </Button>
        )}
        <p class="small muted">Another text of a condition closes its open alert.</p>
        <ScheduleFields schedule={draft.schedule} onChange={(schedule) => change({ schedule })} />
        <DestinationFields
          destinations={draft.destinations}
          onChange={(destinations) => change({ destinations })}
        />
        <RegionFields
          framePath={`/watches/${watch.watch_id}/frame`}
          hasFrame={watch.state.last_frame_at !== null}
          regions={draft.regions}
          onChange={(regions) => change({ regions })}
        />
        <Field label="Labels" hint="One per line, at most 8: they are in events and filter lists">
          {(ids) => <TextArea {...ids} value={draft.labels} onValue={(labels) => change({ labels })} />}
        </Field>
        <DialogActions
          action={saving}
          onClose={onClose}
          problem={saving.problem && conflictOr(saving.problem)}
        >
          Save
        </DialogActions>
      </form>
    </Dialog>
  );
}

const switches = [
  prefilterSwitch,
  {
    field: 'lookBack',
    label: 'Scan the time between checks',
    hint: 'Judges also what came and went since the last check; a stream with one rendition is read as a player does',
  },
  {
    field: 'follow',
    label: 'Check as soon as something moves',
    hint: 'Follows an HLS stream with the bandwidth of a player; an RTSP stream is followed in any case',
  },
] as const;

const numbers = [
  { field: 'intervalSeconds', label: 'Interval (s)', hint: '5 to 300', min: 5, max: 300 },
  {
    field: 'confirmSeconds',
    label: 'Confirming check (s)',
    hint: 'Delay, 1 to 300, at most the interval',
    min: 1,
    max: 300,
  },
  {
    field: 'retentionDays',
    label: 'Retention (days)',
    hint: 'Alerts and evidence, 1 to 90',
    min: 1,
    max: 90,
  },
  {
    field: 'modelCalls',
    label: 'Model calls per day',
    hint: 'Budget; the checks stop beyond it',
    min: 1,
    max: 1_000_000,
    empty: 'No limit',
  },
  {
    field: 'usd',
    label: 'Dollars per day',
    hint: 'Budget by the list price of the model',
    min: 0.01,
    max: 10_000,
    step: 0.01,
    empty: 'No limit',
  },
] as const;

/** Replaces the remedy of a conflict, which is for programs. */
function conflictOr(problem: NonNullable<ReturnType<typeof useAction>['problem']>) {
  if (problem.status !== 412) return problem;
  const remedy = 'Close this dialog and open it again to edit the newest version.';
  return { code: problem.code, message: problem.message, remedy };
}

type ConditionProps = {
  number: number;
  condition: ConditionDraft;
  onChange: (condition: ConditionDraft) => void;
  onRemove: (() => void) | undefined;
  onSchedule: (spans: ScheduleDraft['spans']) => void;
};

const sensitivities = [
  { value: 'normal', label: 'Normal' },
  { value: 'high', label: 'High' },
] as const;

const alertsOn = [
  { value: 'each_visit', label: 'Each visit' },
  { value: 'each_stay', label: 'Each stay' },
  { value: 'by_checks', label: 'By checks' },
] as const;

const severities = [
  { value: 'info', label: 'Info' },
  { value: 'warning', label: 'Warning' },
  { value: 'critical', label: 'Critical' },
] as const;

const counts = [
  { field: 'checks_to_open', label: 'Checks to open' },
  { field: 'checks_considered', label: 'of the last' },
] as const;

function ConditionFields({ number, condition, onChange, onRemove, onSchedule }: ConditionProps) {
  return (
    <fieldset class="stack condition-fields">
      <legend>Condition {number}</legend>
      <Field label="Text">
        {(ids) => (
          <TextInput
            {...ids}
            value={condition.condition}
            onValue={(text) => onChange({ ...condition, condition: text })}
            maxLength={1000}
            required
          />
        )}
      </Field>
      <ConditionAdvice
        condition={condition.condition}
        onCondition={(text) => onChange({ ...condition, condition: text })}
        onSchedule={onSchedule}
      />
      <div class="field-grid">
        {counts.map(({ field, label }) => (
          <NumberField
            key={field}
            label={label}
            min={1}
            max={10}
            value={condition[field]}
            onValue={(value) => onChange({ ...condition, [field]: value ?? 1 })}
          />
        ))}
        <Field label="Alert on" hint="A visit ends after 4 s without it, a stay after a time that you set">
          {(ids) => (
            <Select
              {...ids}
              value={condition.alert_on ?? 'by_checks'}
              onValue={(alertOn) => onChange({ ...condition, ...closingOf(alertOn) })}
              options={[...alertsOn]}
            />
          )}
        </Field>
        {condition.alert_on === 'by_checks' && (
          <NumberField
            label="Checks to close"
            min={1}
            max={10}
            value={condition.checks_to_close}
            onValue={(value) => onChange({ ...condition, checks_to_close: value ?? 1 })}
          />
        )}
        {condition.alert_on !== 'each_visit' && (
          <NumberField
            label="Close after (s)"
            hint="Without the condition, 0 to 3600"
            min={0}
            max={3600}
            value={condition.close_after_seconds}
            onValue={(value) => onChange({ ...condition, close_after_seconds: value ?? 0 })}
          />
        )}
        <NumberField
          label="Cooldown (s)"
          hint="From one opening to the next"
          min={0}
          max={86_400}
          value={condition.cooldown_seconds}
          onValue={(value) => onChange({ ...condition, cooldown_seconds: value ?? 0 })}
        />
        <NumberField
          label="Reminder (s)"
          hint="While open, 60 to 86400"
          min={60}
          max={86_400}
          empty="None"
          value={condition.remind_seconds}
          onValue={(value) => onChange({ ...condition, remind_seconds: value })}
        />
        <Field label="Severity">
          {(ids) => (
            <Select
              {...ids}
              value={condition.severity}
              onValue={(severity) => onChange({ ...condition, severity })}
              options={[...severities]}
            />
          )}
        </Field>
        <Field label="Sensitivity" hint="High: what the object model is not sure of counts">
          {(ids) => (
            <Select
              {...ids}
              value={condition.sensitivity ?? 'normal'}
              onValue={(sensitivity) => onChange({ ...condition, sensitivity })}
              options={[...sensitivities]}
            />
          )}
        </Field>
      </div>
      {onRemove && (
        <Button small kind="danger" onClick={onRemove}>
          Remove condition {number}
        </Button>
      )}
    </fieldset>
  );
}
