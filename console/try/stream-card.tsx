import { useEffect, useState } from 'preact/hooks';
import { asProblem, type Problem } from '../api/problem.ts';
import type { StreamValidation } from '../api/types.ts';
import { useBlobAddress } from '../api/use-blob-address.ts';
import { Badge } from '../parts/badge.tsx';
import { Icon } from '../parts/icon.tsx';
import { useSession } from '../session/session.ts';
import { toOfflineTitle, toStreamFacts } from './stream-facts.ts';

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
export function useStreamValidation(url: string): StreamValidationState {
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

/** Shows whether the entered URL is a live stream, and the hint of the API if it is not. */
export function StreamCard({ check }: { check: StreamValidationState }) {
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
    <span class="thumbnail">
      <img class="picture" src={address} alt="Current frame of the stream" />
    </span>
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
