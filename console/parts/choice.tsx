import { useId } from 'preact/hooks';

type Props<Value extends string> = {
  legend: string;
  hideLegend?: boolean;
  /** True for options that are sentences. */
  asList?: boolean;
  /** Hint of the group; default: that of the chosen option. */
  hint?: string;
  value: Value;
  onValue: (value: Value) => void;
  options: { value: Value; label: string; hint?: string }[];
};

/** Renders radio buttons as a segmented control, or as a list. */
export function Choice<Value extends string>({
  legend,
  hideLegend = false,
  asList = false,
  hint: groupHint,
  value,
  onValue,
  options,
}: Props<Value>) {
  const name = useId();
  const hint = groupHint ?? options.find((option) => option.value === value)?.hint;
  return (
    <fieldset class="field stack">
      <legend class={hideLegend ? 'visually-hidden' : ''}>{legend}</legend>
      <div class={asList ? 'stack' : 'segments'}>
        {options.map((option) => (
          <label key={option.value} class={asList ? 'checkbox' : 'segment'}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onInput={() => onValue(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </fieldset>
  );
}
