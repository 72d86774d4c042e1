import type { InputMode } from '../api/types.ts';
import { Choice } from './choice.tsx';
import { NumberField } from './field.tsx';

const modes = [
  { value: 'frames', label: 'Frame', hint: 'One frame: fastest and cheapest.' },
  { value: 'clip', label: 'Clip', hint: 'A few seconds of video, for conditions that need motion.' },
  { value: 'hybrid', label: 'Both', hint: 'A sharp frame and a clip.' },
] as const;

type Input = { mode: InputMode; clipSeconds: number | null };
type Props = Input & { onChange: (part: Partial<Input>) => void };

/** Edits what a check captures: the input mode and the length of the clip. */
export function InputFields({ mode, clipSeconds, onChange }: Props) {
  return (
    <>
      <Choice
        legend="Input for the model"
        options={[...modes]}
        value={mode}
        onValue={(value) => onChange({ mode: value })}
      />
      {mode !== 'frames' && (
        <NumberField
          label="Clip length in seconds"
          hint="1 to 10"
          min={1}
          max={10}
          value={clipSeconds}
          onValue={(value) => onChange({ clipSeconds: value })}
        />
      )}
    </>
  );
}
