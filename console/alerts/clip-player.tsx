import { useEffect, useRef, useState } from 'preact/hooks';
import type { Alert } from '../api/types.ts';
import { asProblem } from '../api/problem.ts';
import { Button } from '../parts/button.tsx';
import { useSession } from '../session/session.ts';
import { findOpening } from './alert-texts.ts';

/**
 * Plays the clip of an alert. A codec that the browser lacks is said, and the clip is offered as a file in any case.
 */
export function ClipPlayer({ alert }: { alert: Alert }) {
  const { api } = useSession();
  const film = useRef<HTMLVideoElement>(null);
  const [state, setState] = useState<{ address?: string; problem?: string }>({});
  const [isRefused, setRefused] = useState(false);
  const { clip } = alert;
  const url = clip?.clip_url ?? null;
  useEffect(() => {
    if (url === null) return;
    let address: string | undefined;
    let isWanted = true;
    const show = (blob: Blob) => {
      address = URL.createObjectURL(blob);
      setState({ address });
    };
    api.picture(`/alerts/${alert.alert_id}/clip`).then(
      (blob) => isWanted && show(blob),
      (error: unknown) => isWanted && setState({ problem: asProblem(error).message }),
    );
    return () => {
      isWanted = false;
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [url]);
  if (!clip) return null;
  if (url === null) return <p class="small muted">No clip: {clip.reason}.</p>;
  if (state.address === undefined) return <p class="small muted">{state.problem ?? 'Loading the clip …'}</p>;
  const { text, seconds } = findOpening(alert.opened_at, clip.from ?? alert.opened_at);
  return (
    <div>
      {isRefused ? (
        <p class="small muted">This browser does not play {clip.codec}: save the clip as a file.</p>
      ) : (
        <video
          ref={film}
          class="picture"
          src={state.address}
          controls
          muted
          playsInline
          aria-label="Clip of the alert"
          onError={() => setRefused(true)}
        />
      )}
      <p class="actions">
        {seconds === null ? (
          <span class="small muted">{text}</span>
        ) : (
          !isRefused && (
            <Button small onClick={() => film.current && (film.current.currentTime = seconds)}>
              {text}
            </Button>
          )
        )}
        <a href={state.address} download={`${alert.alert_id}.mp4`}>
          Save as a file
        </a>
      </p>
    </div>
  );
}
