import { watchRequestFields } from '../../client/openapi-types.ts';
import type { InputMode } from '../api/types.ts';
import { Choice } from './choice.tsx';
import { NumberFields } from './draft-fields.tsx';

const modes = [
  { value: 'frames', label: 'Frame', hint: 'One frame: fastest and cheapest.' },
  { value: 'clip', label: 'Clip', hint: 'A few seconds of video, for conditions that need motion.' },
  { value: 'hybrid', label: 'Both', hint: 'A sharp frame and a clip.' },
] as const;

type Input = { input_mode: InputMode; clip_duration_seconds: number | null };
type Props = { values: Input; onChange: (part: Partial<Input>) => void };

/** Edits what a check captures: the input mode and the length of the clip. */
export function InputFields({ values, onChange }: Props) {
  return (
    <>
      <Choice
        legend="Input for the model"
        options={[...modes]}
        value={values.input_mode}
        onValue={(mode) => onChange({ input_mode: mode })}
      />
      {values.input_mode !== 'frames' && (
        <NumberFields
          entries={[{ field: 'clip_duration_seconds', label: 'Clip length in seconds' }]}
          bounds={watchRequestFields}
          values={values}
          onValue={(field, value) => onChange({ [field]: value })}
        />
      )}
    </>
  );
}
