import { Field, Select } from '../parts/field.tsx';

/** Grace period of a rotated key or secret, in seconds. Text, because the value of a `<select>` is a string. */
export type Grace = '0' | '3600' | '86400' | '604800';

const options: { value: Grace; label: string }[] = [
  { value: '0', label: 'No grace period' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
];

type Props = { label: string; value: Grace; onValue: (value: Grace) => void };

/** Renders the selection of a grace period. */
export function GraceField({ label, value, onValue }: Props) {
  return (
    <Field label={label}>
      {(ids) => <Select {...ids} value={value} onValue={onValue} options={options} />}
    </Field>
  );
}
