import { Field, Select } from '../parts/field.tsx';

/** How long what is rotated stays good beside its successor. Seconds, as text, since a `<select>` has no numbers. */
export type Grace = '0' | '3600' | '86400' | '604800';

const options: { value: Grace; label: string }[] = [
  { value: '0', label: 'Not at all: it leaked' },
  { value: '3600', label: 'An hour' },
  { value: '86400', label: 'A day' },
  { value: '604800', label: 'A week' },
];

type Props = { label: string; value: Grace; onValue: (value: Grace) => void };

export function GraceField({ label, value, onValue }: Props) {
  return (
    <Field label={label}>
      {(ids) => <Select {...ids} value={value} onValue={onValue} options={options} />}
    </Field>
  );
}
