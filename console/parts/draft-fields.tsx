import { Checkbox, NumberField } from './field.tsx';

/**
 * Number of a form: its field, label and limits. `empty` is the meaning of an empty control; without it the field is
 * required.
 */
export type NumberEntry<Name extends string> = {
  field: Name;
  /** Path in the request; default: the field in the spelling of the API. */
  name?: string;
  label: string;
  hint: string;
  min: number;
  max?: number;
  step?: number;
  empty?: string;
};

type NumbersProps<Name extends string> = {
  entries: readonly NumberEntry<Name>[];
  values: Readonly<Record<Name, number | null>>;
  onValue: (field: Name, value: number | null) => void;
};

/** Renders numbers of a form side by side. */
export function NumberFields<Name extends string>({ entries, values, onValue }: NumbersProps<Name>) {
  return (
    <div class="field-grid">
      {entries.map(({ field, ...entry }) => (
        <NumberField
          key={field}
          name={field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}
          {...entry}
          value={values[field]}
          onValue={(value) => onValue(field, value)}
        />
      ))}
    </div>
  );
}

export type SwitchEntry<Name extends string> = { field: Name; label: string; hint?: string };

type SwitchesProps<Name extends string> = {
  entries: readonly SwitchEntry<Name>[];
  values: Readonly<Record<Name, boolean>>;
  onValue: (field: Name, value: boolean) => void;
};

/** Renders switches of a form below each other. */
export function Switches<Name extends string>({ entries, values, onValue }: SwitchesProps<Name>) {
  return entries.map(({ field, ...entry }) => (
    <Checkbox
      key={field}
      {...entry}
      checked={values[field]}
      onChecked={(checked) => onValue(field, checked)}
    />
  ));
}

/** Switch that forms of jobs and watches share. */
export const prefilterSwitch = {
  field: 'prefilter',
  label: 'Motion pre-filter',
  hint: 'Skips the model call if there is no motion',
} as const;
