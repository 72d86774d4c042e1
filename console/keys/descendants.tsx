import { Checkbox } from '../parts/field.tsx';

type Props = { checked: boolean; onChecked: (checked: boolean) => void };

/** For a key that leaked: whoever had it may have made others with it. */
export function DescendantsField(props: Props) {
  return (
    <Checkbox
      {...props}
      label="End the keys that it made, too"
      hint="And those that they made. For a key that has leaked."
    />
  );
}
