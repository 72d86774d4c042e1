import { Checkbox } from '../parts/field.tsx';

type Props = { checked: boolean; onChecked: (checked: boolean) => void };

/** Renders the choice to include descendants: the holder of a leaked key may have created other keys with it. */
export function DescendantsField(props: Props) {
  return (
    <Checkbox
      {...props}
      label="Also end the keys that it created"
      hint="And all their descendants. Use it for a leaked key."
    />
  );
}
