import { useBlobAddress } from '../api/use-blob-address.ts';
import type { StreamValidation } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Icon } from '../parts/icon.tsx';
import { toOfflineTitle, toStreamFacts } from './stream-facts.ts';
import type { StreamValidationState } from './use-stream-validation.ts';

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
    <div class="stream-live">
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
    <div class="stream-refused">
      <Icon name="warn" />
      <div>
        <strong>{title}</strong>
        <p>{hint}</p>
      </div>
    </div>
  );
}
