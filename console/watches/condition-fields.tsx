import { conditionRequestFields as fields } from '../../client/openapi-types.ts';
import { Button } from '../parts/button.tsx';
import { NumberFields } from '../parts/draft-fields.tsx';
import { Field, Select, TextInput } from '../parts/field.tsx';
import { ConditionAdvice, ConditionExamples } from '../try/advice.tsx';
import { closingOf, type ConditionDraft, type ScheduleDraft } from './watch-draft.ts';

type Props = {
  /** Text of its label. */
  label: string;
  /** Path in the request of the form. */
  name: string;
  condition: ConditionDraft;
  onChange: (condition: ConditionDraft) => void;
  onRemove?: (() => void) | undefined;
  onSchedule?: (spans: ScheduleDraft['active']) => void;
};

/** Edits the text of a condition, with advice on it. */
export function ConditionFields({ label, name, condition, onChange, onRemove, onSchedule }: Props) {
  const setText = (text: string, openAfter = 0) =>
    onChange({ ...condition, condition: text, ...(openAfter > 0 && { open_after_seconds: openAfter }) });
  return (
    <>
      <Field label={label} name={`${name}.condition`}>
        {(ids) => (
          <TextInput
            {...ids}
            value={condition.condition}
            onValue={(text) => setText(text)}
            {...fields.condition}
          />
        )}
      </Field>
      {condition.condition === '' && <ConditionExamples onUse={(text) => setText(text)} />}
      <ConditionAdvice
        condition={condition.condition}
        onCondition={setText}
        opensAfter
        {...(onSchedule && { onSchedule })}
      />
      {onRemove && (
        <div class="row">
          <Button small kind="danger" onClick={onRemove}>
            Remove<span class="visually-hidden"> {label}</span>
          </Button>
        </div>
      )}
    </>
  );
}

const sensitivities = [
  { value: 'normal', label: 'Normal' },
  { value: 'high', label: 'High' },
] as const;

const alertsOn = [
  { value: 'each_visit', label: 'Each visit' },
  { value: 'each_stay', label: 'Each stay' },
  { value: 'by_checks', label: 'By number of checks' },
] as const;

const severities = [
  { value: 'info', label: 'Info' },
  { value: 'warning', label: 'Warning' },
  { value: 'critical', label: 'Critical' },
] as const;

const opening = [
  { field: 'checks_to_open', label: 'Checks to open' },
  { field: 'checks_considered', label: 'of the last' },
] as const;

const checksToClose = { field: 'checks_to_close', label: 'Checks to close' } as const;
const closeAfter = {
  field: 'close_after_seconds',
  label: 'Close after (s)',
  hint: 'Without the condition',
} as const;
const closing = { each_visit: [], each_stay: [closeAfter], by_checks: [checksToClose, closeAfter] };

const times = [
  { field: 'open_after_seconds', label: 'Open after (s)', hint: 'For which it must have held' },
  { field: 'cooldown_seconds', label: 'Cooldown (s)', hint: 'From one opening to the next' },
  { field: 'remind_seconds', label: 'Reminder (s)', hint: 'While open', empty: 'None' },
] as const;

type RulesProps = Pick<Props, 'name' | 'condition' | 'onChange'>;

type NumberName = (typeof opening | typeof times | (typeof closing)['by_checks'])[number]['field'];

/** Edits when an alert of a condition opens, closes and is repeated. */
export function ConditionRules({ name, condition, onChange }: RulesProps) {
  const alertOn = condition.alert_on ?? 'by_checks';
  const numbers = {
    place: `${name}.`,
    bounds: fields,
    values: { open_after_seconds: 0, ...condition },
    // An emptied number is the least one, but there may be no reminder.
    onValue: (field: NumberName, value: number | null) =>
      onChange({ ...condition, [field]: value ?? (field === 'remind_seconds' ? null : fields[field].min) }),
  };
  return (
    <fieldset class="stack framed">
      <legend>{condition.condition || 'New condition'}</legend>
      <div class="field-grid">
        <NumberFields entries={opening} {...numbers} />
        <Field
          label="Alert on"
          name={`${name}.alert_on`}
          hint="A visit ends after 4 s without it, a stay after a time that you set"
        >
          {(ids) => (
            <Select
              {...ids}
              value={alertOn}
              onValue={(value) => onChange({ ...condition, ...closingOf(value) })}
              options={[...alertsOn]}
            />
          )}
        </Field>
        <NumberFields entries={closing[alertOn]} {...numbers} />
        <NumberFields entries={times} {...numbers} />
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
    </fieldset>
  );
}
