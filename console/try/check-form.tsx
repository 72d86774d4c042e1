import { Button } from '../parts/button.tsx';
import { Field, TextArea, TextInput } from '../parts/field.tsx';
import { InputFields } from '../parts/input-fields.tsx';
import { useSession } from '../session/session.ts';
import { ConditionAdvice } from './advice.tsx';
import type { Draft } from './draft.ts';
import { useBlobAddress } from '../api/use-blob-address.ts';
import type { StreamValidation } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Icon } from '../parts/icon.tsx';
import { toOfflineTitle, toStreamFacts } from './stream-facts.ts';
import { useEffect, useState } from 'preact/hooks';
import { asProblem } from '../api/problem.ts';
import type { Problem } from '../api/problem.ts';

/** State of the stream validation; `none` without a complete URL. */
type StreamValidationState =
  | { state: 'none' }
  | { state: 'checking' }
  | { state: 'known'; stream: StreamValidation }
  | { state: 'refused'; problem: Problem };

/** Delay after the last keystroke, in milliseconds: validation is rate-limited. */
const pauseMs = 600;
const retryMs = 3_000;
const scheme = /^(?:https?|rtsps?|rtsp\+https?):\/\/[^/\s]\S*$/i;

/** Validates the URL while it is typed. Aborts the request for an older URL. */
function useStreamValidation(url: string): StreamValidationState {
  const { api } = useSession();
  const [check, setCheck] = useState<StreamValidationState>({ state: 'none' });
  useEffect(() => {
    if (!scheme.test(url)) return setCheck({ state: 'none' });
    setCheck({ state: 'checking' });
    const abort = new AbortController();
    const validate = async () => {
      try {
        const stream = await api.validateStream(url, abort.signal);
        if (abort.signal.aborted) return;
        setCheck({ state: 'known', stream });
        // Shows the result before the frame: a camera may take seconds to deliver a frame, or deliver none.
        if (stream.is_live) await addFrame();
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = asProblem(error);
        setCheck({ state: 'refused', problem });
        // An unreachable service is retried: the state of the stream is unknown.
        if (problem.status === 0) timer = setTimeout(validate, retryMs);
      }
    };
    const addFrame = async () => {
      const validated = await api.validateStream(url, abort.signal, true).catch(() => undefined);
      if (validated?.frame_b64 && !abort.signal.aborted) setCheck({ state: 'known', stream: validated });
    };
    let timer = setTimeout(validate, pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [url]);
  return check;
}

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
  const check = useStreamValidation(draft.streamUrl.trim());
  const complete = draft.streamUrl.trim() !== '' && draft.condition.trim() !== '';
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
            maxLength={500}
            placeholder="https://example.com/live.m3u8"
            value={draft.streamUrl}
            onValue={(streamUrl) => onChange({ streamUrl })}
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
            maxLength={1000}
            placeholder={model.condition_examples[0] ?? ''}
            value={draft.condition}
            onValue={(condition) => onChange({ condition })}
          />
        )}
      </Field>
      <ConditionAdvice
        condition={draft.condition}
        mode={draft.mode}
        onCondition={(condition) => onChange({ condition })}
        onMode={(mode) => onChange({ mode })}
      />
      <div class="row suggestions" role="group" aria-label="Examples of conditions">
        {model.condition_examples.map((example) => (
          <button type="button" key={example} class="chip" onClick={() => onChange({ condition: example })}>
            {example}
          </button>
        ))}
      </div>
      <InputFields mode={draft.mode} clipSeconds={draft.clipSeconds} onChange={onChange} />
      <Button kind="primary" type="submit" busy={busy} disabled={!complete} wide>
        Check now
      </Button>
      <Button disabled={!complete} onClick={onWalk} wide>
        Walk test
      </Button>
    </form>
  );
}

/** Shows whether the entered URL is a live stream, and the hint of the API if it is not. */
function StreamCard({ check }: { check: StreamValidationState }) {
  return (
    <div class="stream-card" role="status" data-state={check.state}>
      {check.state === 'checking' && (
        <p class="muted">
          <span class="spinner" aria-hidden="true" /> Checking for a live stream…
        </p>
      )}
      {check.state === 'refused' && <Refusal title={check.problem.message} hint={check.problem.remedy} />}
      {check.state === 'known' &&
        (check.stream.is_live ? (
          <Live stream={check.stream} />
        ) : (
          <Refusal
            title={toOfflineTitle(check.stream)}
            hint={check.stream.error_hint ?? 'There is no live stream at this URL now.'}
          />
        ))}
    </div>
  );
}

function Live({ stream }: { stream: StreamValidation }) {
  return (
    <div class="note good small stream-live">
      {stream.frame_b64 !== undefined && <Thumbnail base64={stream.frame_b64} />}
      <Badge tone="good" dot>
        Live
      </Badge>
      <div>
        {stream.title !== undefined && <strong>{stream.title}</strong>}
        <span class="small muted">{toStreamFacts(stream).join(' · ')}</span>
      </div>
    </div>
  );
}

function Thumbnail({ base64 }: { base64: string }) {
  const address = useBlobAddress(base64);
  return address === undefined ? null : (
    <img class="stream-thumbnail" src={address} alt="Current frame of the stream" />
  );
}

function Refusal({ title, hint }: { title: string; hint: string }) {
  return (
    <div class="note warn small">
      <Icon name="warn" />
      <div>
        <strong>{title}</strong>
        <p>{hint}</p>
      </div>
    </div>
  );
}
