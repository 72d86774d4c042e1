import { checkOnceRequestFields as fields } from '../../client/openapi-types.ts';
import { Button } from '../parts/button.tsx';
import { Field, TextArea, TextInput } from '../parts/field.tsx';
import { InputFields } from '../parts/draft-fields.tsx';
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
      <InputFields values={draft} onChange={onChange} />
      <Button kind="primary" type="submit" busy={busy} disabled={!complete} wide>
        Check now
      </Button>
      <Button disabled={!complete} onClick={onWalk} wide>
        Walk test
      </Button>
    </form>
  );
}
