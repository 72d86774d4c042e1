import { Checkbox, NumberField } from './field.tsx';

/** Least and largest value of a number. */
export type Bounds = { min: number; max?: number };

/** Number of a form. `empty` is the meaning of an empty control; without it the field is required. */
type NumberEntry<Name extends string> = Partial<Bounds> & {
  field: Name;
  label: string;
  hint?: string;
  step?: number;
  empty?: string;
};

type NumbersProps<Name extends string> = {
  entries: readonly NumberEntry<Name>[];
  /** Bounds of the fields in the schema of the request, unless an entry has its own. */
  bounds: Readonly<Record<Name, Readonly<Bounds>>>;
  /** Place of the fields in the request, such as `budget.`. */
  place?: string;
  values: Readonly<Record<Name, number | null>>;
  onValue: (field: Name, value: number | null) => void;
};

/** Renders numbers of a form, which a grid arranges. */
export function NumberFields<Name extends string>(props: NumbersProps<Name>) {
  const { entries, bounds, place = '', values, onValue } = props;
  return entries.map(({ field, ...entry }) => (
    <NumberField
      key={field}
      name={`${place}${field}`}
      {...bounds[field]}
      {...entry}
      value={values[field]}
      onValue={(value) => onValue(field, value)}
    />
  ));
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
  field: 'enable_prefilter',
  label: 'Motion pre-filter',
  hint: 'Skips the model call if there is no motion',
} as const;
