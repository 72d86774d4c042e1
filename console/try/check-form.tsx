import { checkOnceRequestFields as fields } from '../../client/openapi-types.ts';
import type { InputMode } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/choice.tsx';
import { Field, TextArea, TextInput } from '../parts/field.tsx';
import { NumberFields, type Bounds } from '../parts/draft-fields.tsx';
import { useSession } from '../session/session.ts';
import { ConditionAdvice, ConditionExamples } from './advice.tsx';
import type { Draft } from './draft.ts';
import { StreamCard, useStreamValidation } from './stream-card.tsx';

type Props = {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
  onCheck: () => void;
  onWalk: () => void;
  /** Absent if the service discovers no cameras. */
  onFindCamera?: (() => void) | undefined;
  busy: boolean;
};

/** Renders the form of a single check: stream, condition, input mode. */
export function CheckForm({ draft, onChange, onCheck, onWalk, onFindCamera, busy }: Props) {
  const { model } = useSession().service;
  const check = useStreamValidation(draft.stream_url.trim());
  const complete = draft.stream_url.trim() !== '' && draft.condition.trim() !== '';
  const submit = (event: Event) => {
    event.preventDefault();
    if (complete && !busy) onCheck();
  };
  return (
    <form class="panel stack" onSubmit={submit} aria-label="Check">
      <Field
        label="Stream URL"
        hint="HLS (.m3u8), RTSP, JPEG, Motion JPEG or MPEG-TS, or a YouTube or Twitch live page"
      >
        {(ids) => (
          <TextInput
            {...ids}
            inputMode="url"
            maxLength={fields.stream_url.maxLength}
            placeholder="https://example.com/live.m3u8"
            value={draft.stream_url}
            onValue={(url) => onChange({ stream_url: url })}
          />
        )}
      </Field>
      <StreamCard check={check} />
      {onFindCamera && (
        <Button small onClick={onFindCamera}>
          Find a camera
        </Button>
      )}
      <Field label="Condition" hint="A sentence about something visible">
        {(ids) => (
          <TextArea
            {...ids}
            maxLength={fields.condition.maxLength}
            placeholder={model.condition_examples[0] ?? ''}
            value={draft.condition}
            onValue={(condition) => onChange({ condition })}
          />
        )}
      </Field>
      <ConditionAdvice
        condition={draft.condition}
        mode={draft.input_mode}
        onCondition={(condition) => onChange({ condition })}
        onMode={(mode) => onChange({ input_mode: mode })}
      />
      <ConditionExamples onUse={(condition) => onChange({ condition })} />
      <InputFields bounds={fields} values={draft} onChange={onChange} />
      <Button kind="primary" type="submit" busy={busy} disabled={!complete} wide>
        Check now
      </Button>
      <Button disabled={!complete} onClick={onWalk} wide>
        Walk test
      </Button>
    </form>
  );
}

const modes = [
  { value: 'frames', label: 'Frame', hint: 'One frame: fastest and cheapest.' },
  { value: 'clip', label: 'Clip', hint: 'A few seconds of video, for conditions that need motion.' },
  { value: 'hybrid', label: 'Both', hint: 'A sharp frame and a clip.' },
] as const;

type Input = { input_mode: InputMode; clip_duration_seconds: number | null };
type InputProps = {
  /** Bounds in the schema of the request of its form. */
  bounds: Readonly<Record<'clip_duration_seconds', Readonly<Bounds>>>;
  values: Input;
  onChange: (part: Partial<Input>) => void;
};

/** Edits what a check captures: the input mode and the length of the clip. */
export function InputFields({ bounds, values, onChange }: InputProps) {
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
          bounds={bounds}
          values={values}
          onValue={(field, value) => onChange({ [field]: value })}
        />
      )}
    </>
  );
}
