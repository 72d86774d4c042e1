import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { useFormProblem } from './form.tsx';

/** Attributes that connect a control with its label and description, and mark a refused one. */
type ControlIds = { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean };

type FieldProps = {
  label: string;
  /** Path in the request of its form, as `destinations.0.url`. */
  name?: string | undefined;
  hint?: ComponentChildren;
  error?: string | undefined;
  children: (ids: ControlIds) => ComponentChildren;
};

/** Renders a form control with a visible label. Hint and error are its accessible description. */
export function Field({ label, name, hint, error, children }: FieldProps) {
  const id = useId();
  const { find } = useFormProblem();
  const noteId = `${id}-note`;
  const wrong = error ?? (name === undefined ? undefined : find(name));
  const note = wrong ?? hint;
  return (
    <div class="field stack" data-field={name}>
      <label for={id}>{label}</label>
      {children({
        id,
        ...(note !== undefined && { 'aria-describedby': noteId }),
        ...(wrong !== undefined && { 'aria-invalid': true }),
      })}
      {note !== undefined && (
        <p id={noteId} class={wrong === undefined ? 'hint' : 'hint bad'}>
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

export function TextInput({ onValue, autoFocus = false, ...rest }: InputProps) {
  return (
    <input
      {...rest}
      class="input"
      type="text"
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      ref={autoFocus ? focus : null}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  );
}

type TimeProps = ControlIds & { type: 'date' | 'time'; value: string; onValue: (value: string) => void };

/** Renders a control of the browser for a date or a time of day; its value is empty until it is complete. */
export function TimeInput({ onValue, ...rest }: TimeProps) {
  return <input {...rest} class="input" onInput={(event) => onValue(event.currentTarget.value)} />;
}

export function TextArea({ onValue, ...rest }: Omit<InputProps, 'autoFocus' | 'inputMode'>) {
  return (
    <textarea {...rest} class="input" rows={3} onInput={(event) => onValue(event.currentTarget.value)} />
  );
}

/** Renders a masked input. Not of type `password`, so that browsers do not offer to store it. */
export function SecretInput({ onValue, autoFocus = false, ...rest }: InputProps) {
  const [shown, setShown] = useState(false);
  return (
    <div class="input-with-button">
      <input
        {...rest}
        class={shown ? 'input mono' : 'input mono hidden-text'}
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
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

export function NumberInput({ value, onValue, empty, ...rest }: NumberProps) {
  return (
    <input
      {...rest}
      class="input"
      type="number"
      required={empty === undefined}
      {...(empty === undefined ? {} : { placeholder: empty })}
      value={value ?? ''}
      onInput={({ currentTarget }) =>
        onValue(currentTarget.value === '' ? null : currentTarget.valueAsNumber)
      }
    />
  );
}

type NumberFieldProps = Pick<FieldProps, 'label' | 'name'> & { hint?: string } & Omit<
    NumberProps,
    keyof ControlIds
  >;

/** Renders a number with its bounds behind the hint. That a number is not negative goes without saying. */
export function NumberField({ label, name, hint, ...input }: NumberFieldProps) {
  const { min, max } = input;
  const least = min === 0 ? '' : `at least ${min.toLocaleString()}`;
  const bounds = max === undefined ? least : `${min.toLocaleString()} to ${max.toLocaleString()}`;
  const note = [hint, bounds].filter(Boolean).join('; ');
  return (
    <Field label={label} name={name} {...(note !== '' && { hint: note })}>
      {(ids) => <NumberInput {...ids} {...input} />}
    </Field>
  );
}

type SelectProps<Value extends string> = ControlIds & {
  value: Value;
  onValue: (value: Value) => void;
  options: { value: Value; label: string }[];
};

export function Select<Value extends string>({ onValue, options, ...rest }: SelectProps<Value>) {
  return (
    <select
      {...rest}
      class="input"
      onInput={({ currentTarget }) => {
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

// `input`, because a form answers it too: what it renders before `change` would undo the click.
export function Checkbox({
  label,
  name,
  checked,
  onChecked,
  hint,
  required = false,
}: {
  label: string;
  /** Path in the request of its form. */
  name?: string;
  checked: boolean;
  onChecked: (checked: boolean) => void;
  hint?: string;
  required?: boolean;
}) {
  const { find } = useFormProblem();
  const wrong = name === undefined ? undefined : find(name);
  const note = wrong ?? hint;
  return (
    <label class="checkbox" data-field={name}>
      <input
        type="checkbox"
        checked={checked}
        required={required}
        {...(wrong !== undefined && { 'aria-invalid': true })}
        onInput={(event) => onChecked(event.currentTarget.checked)}
      />
      <span>
        {label}
        {note !== undefined && <span class={wrong === undefined ? 'hint' : 'hint bad'}>{note}</span>}
      </span>
    </label>
  );
}

function focus(element: HTMLElement | null): void {
  element?.focus();
}
