import { Button } from '../parts/button.tsx';
import { Field, NumberField, Select, TextInput } from '../parts/field.tsx';
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
  onSchedule?: (spans: ScheduleDraft['spans']) => void;
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
            maxLength={1000}
            required
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

const counts = [
  { field: 'checks_to_open', label: 'Checks to open' },
  { field: 'checks_considered', label: 'of the last' },
] as const;

type RulesProps = Pick<Props, 'name' | 'condition' | 'onChange'>;

/** Edits when an alert of a condition opens, closes and is repeated. */
export function ConditionRules({ name, condition, onChange }: RulesProps) {
  return (
    <fieldset class="stack framed">
      <legend>{condition.condition || 'New condition'}</legend>
      <div class="field-grid">
        {counts.map(({ field, label }) => (
          <NumberField
            key={field}
            name={`${name}.${field}`}
            label={label}
            min={1}
            max={10}
            value={condition[field]}
            onValue={(value) => onChange({ ...condition, [field]: value ?? 1 })}
          />
        ))}
        <Field
          label="Alert on"
          name={`${name}.alert_on`}
          hint="A visit ends after 4 s without it, a stay after a time that you set"
        >
          {(ids) => (
            <Select
              {...ids}
              value={condition.alert_on ?? 'by_checks'}
              onValue={(alertOn) => onChange({ ...condition, ...closingOf(alertOn) })}
              options={[...alertsOn]}
            />
          )}
        </Field>
        {(condition.alert_on ?? 'by_checks') === 'by_checks' && (
          <NumberField
            label="Checks to close"
            name={`${name}.checks_to_close`}
            min={1}
            max={10}
            value={condition.checks_to_close}
            onValue={(value) => onChange({ ...condition, checks_to_close: value ?? 1 })}
          />
        )}
        {condition.alert_on !== 'each_visit' && (
          <NumberField
            label="Close after (s)"
            name={`${name}.close_after_seconds`}
            hint="Without the condition, 0 to 3600"
            min={0}
            max={3600}
            value={condition.close_after_seconds}
            onValue={(value) => onChange({ ...condition, close_after_seconds: value ?? 0 })}
          />
        )}
        <NumberField
          label="Open after (s)"
          name={`${name}.open_after_seconds`}
          hint="For which it must have held, 0 to 86400"
          min={0}
          max={86_400}
          value={condition.open_after_seconds ?? 0}
          onValue={(value) => onChange({ ...condition, open_after_seconds: value ?? 0 })}
        />
        <NumberField
          label="Cooldown (s)"
          name={`${name}.cooldown_seconds`}
          hint="From one opening to the next"
          min={0}
          max={86_400}
          value={condition.cooldown_seconds}
          onValue={(value) => onChange({ ...condition, cooldown_seconds: value ?? 0 })}
        />
        <NumberField
          label="Reminder (s)"
          name={`${name}.remind_seconds`}
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
    </fieldset>
  );
}
