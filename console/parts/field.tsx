import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Button } from './button.tsx';

/** Ids that connect a control with its label and description. */
export type ControlIds = { id: string; describedBy: string | undefined };

type FieldProps = {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  children: (ids: ControlIds) => ComponentChildren;
};

/** Renders a form control with a visible label. Hint and error are its accessible description. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const note = error ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, describedBy: note === undefined ? undefined : noteId })}
      {note !== undefined && (
        <p id={noteId} class={error === undefined ? 'hint' : 'hint bad'}>
          {note}
        </p>
      )}
    </div>
  );
}

type InputProps = ControlIds & {
  value: string;
  onValue: (value: string) => void;
  placeholder?: string;
  required?: boolean;
  autoFocus?: boolean;
  inputMode?: 'url' | 'numeric' | 'text';
  maxLength?: number;
};

export function TextInput({ describedBy, onValue, autoFocus = false, ...rest }: InputProps) {
  return (
    <input
      {...rest}
      class="input"
      type="text"
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      aria-describedby={describedBy}
      ref={autoFocus ? focus : null}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  );
}

type TimeProps = ControlIds & { type: 'date' | 'time'; value: string; onValue: (value: string) => void };

/** Renders a control of the browser for a date or a time of day; its value is empty until it is complete. */
export function TimeInput({ id, describedBy, type, value, onValue }: TimeProps) {
  return (
    <input
      id={id}
      class="input"
      type={type}
      value={value}
      aria-describedby={describedBy}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  );
}

export function TextArea({ describedBy, onValue, id, value, placeholder, maxLength }: InputProps) {
  return (
    <textarea
      id={id}
      class="input"
      rows={3}
      value={value}
      {...(placeholder === undefined ? {} : { placeholder })}
      {...(maxLength === undefined ? {} : { maxLength })}
      aria-describedby={describedBy}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  );
}

/** Renders a masked input. Not of type `password`, so that browsers do not offer to store it. */
export function SecretInput({ describedBy, onValue, id, value, autoFocus = false }: InputProps) {
  const [shown, setShown] = useState(false);
  return (
    <div class="input-with-button">
      <input
        id={id}
        class={shown ? 'input mono' : 'input mono hidden-text'}
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={value}
        aria-describedby={describedBy}
        ref={autoFocus ? focus : null}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <Button kind="quiet" onClick={() => setShown(!shown)}>
        {shown ? 'Hide' : 'Show'}
      </Button>
    </div>
  );
}

type NumberProps = ControlIds & {
  value: number | null;
  onValue: (value: number | null) => void;
  min: number;
  max?: number;
  /** Granularity; default 1. */
  step?: number;
  /** Placeholder that states the meaning of an empty field; without it the field is required. */
  empty?: string;
};

export function NumberInput({ id, describedBy, value, onValue, min, max, step, empty }: NumberProps) {
  return (
    <input
      id={id}
      class="input"
      type="number"
      min={min}
      {...(max === undefined ? {} : { max })}
      {...(step === undefined ? {} : { step })}
      required={empty === undefined}
      {...(empty === undefined ? {} : { placeholder: empty })}
      value={value ?? ''}
      aria-describedby={describedBy}
      onInput={({ currentTarget }) =>
        onValue(currentTarget.value === '' ? null : currentTarget.valueAsNumber)
      }
    />
  );
}

type NumberFieldProps = Pick<FieldProps, 'label' | 'hint'> & Omit<NumberProps, keyof ControlIds>;

/** Number with its label. */
export function NumberField({ label, hint, ...input }: NumberFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => <NumberInput {...ids} {...input} />}
    </Field>
  );
}

type SelectProps<Value extends string> = ControlIds & {
  value: Value;
  onValue: (value: Value) => void;
  options: { value: Value; label: string }[];
};

export function Select<Value extends string>({ id, value, onValue, options }: SelectProps<Value>) {
  return (
    <select
      id={id}
      class="input"
      value={value}
      onChange={({ currentTarget }) => {
        const chosen = options.find((option) => option.value === currentTarget.value);
        if (chosen) onValue(chosen.value);
      }}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

export function Checkbox({
  label,
  checked,
  onChecked,
  hint,
  required = false,
}: {
  label: string;
  checked: boolean;
  onChecked: (checked: boolean) => void;
  hint?: string;
  required?: boolean;
}) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={checked}
        required={required}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span class="hint">{hint}</span>}
      </span>
    </label>
  );
}

function focus(element: HTMLElement | null): void {
  element?.focus();
}
