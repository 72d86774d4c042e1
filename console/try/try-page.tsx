import { useState } from 'preact/hooks';
import { EmptyState } from '../parts/empty-state.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import type { CheckRequest, InputMode } from '../api/types.ts';
import { walkByCheck } from '../walk/checks.ts';
import { WalkTest } from '../walk/walk-test.tsx';
import { emptyDraft, checkRequest, walkRequest } from './draft.ts';
import type { Draft } from './draft.ts';
import { drafts } from './drafts.ts';
import { StartJob } from './start-job.tsx';
import { CheckForm } from './check-form.tsx';
import { FindCamera } from './find-camera.tsx';
import { useCheck } from './use-check.ts';
import { CheckVerdict } from './verdict.tsx';
import { milliseconds } from '../time/format.ts';
import { useNow } from '../time/use-now.ts';
import { Button } from '../parts/button.tsx';

/** Checks a condition on a stream once and starts jobs. */
export function TryPage() {
  const session = useSession();
  const [draft, setDraft] = useState(() => drafts.get(session) ?? emptyDraft);
  const { look, run, stop, typicalMs } = useCheck();
  const [finding, setFinding] = useState(false);
  const [walk, setWalk] = useState<CheckRequest>();
  const checkNow = () => {
    setWalk(undefined);
    void run(checkRequest(draft));
  };
  const startWalk = () => {
    stop();
    setWalk(walkRequest(draft));
  };
  const change = (part: Partial<Draft>) => {
    const next = { ...draft, ...part };
    // A problem of another stream or condition would be misread as one of the new.
    if (look.state === 'failed' && (next.streamUrl !== draft.streamUrl || next.condition !== draft.condition))
      stop();
    drafts.set(session, next);
    setDraft(next);
  };
  return (
    <>
      <PageHead
        title="Try"
        lead="Paste a live stream, describe a condition, and see the verdict of the model."
      />
      <div class="look-columns">
        <CheckForm
          draft={draft}
          onChange={change}
          onCheck={checkNow}
          onWalk={startWalk}
          onFindCamera={
            session.service.discovers_cameras && mayUse(session, 'jobs') ? () => setFinding(true) : undefined
          }
          busy={look.state === 'looking'}
        />
        <section class="panel look-result" aria-label="Result">
          {walk && <WalkTest key={walk} check={walkByCheck(session.api, walk)} />}
          {look.state === 'idle' && !walk && (
            <EmptyState icon="look" title="No check yet">
              <p class="muted">The frame, the verdict and the explanation appear here.</p>
            </EmptyState>
          )}
          {look.state === 'looking' && (
            <CheckProgress
              since={look.since}
              mode={look.mode}
              typicalMs={typicalMs(look.mode)}
              onStop={stop}
            />
          )}
          {look.state === 'failed' && <ProblemNote problem={look.problem} onRetry={checkNow} />}
          {look.state === 'seen' && <CheckVerdict answer={look.answer} request={look.request} />}
        </section>
      </div>
      {finding && (
        <FindCamera
          onClose={() => setFinding(false)}
          onStream={(streamUrl) => {
            change({ streamUrl });
            setFinding(false);
          }}
        />
      )}
      <StartJob draft={draft} onChange={change} />
    </>
  );
}

type Props = { since: number; typicalMs: number; mode: InputMode; onStop: () => void };

const doing = {
  frames: 'Capturing a frame and calling the model',
  clip: 'Capturing a clip and calling the model',
  hybrid: 'Capturing a frame and a clip and calling the model',
};

/** Shows the elapsed time of a check beside the typical time, in milliseconds. */
function CheckProgress({ since, typicalMs, mode, onStop }: Props) {
  const elapsed = Math.max(0, useNow(100) - since);
  // The bar approaches its end without reaching it, and slows down if the check takes longer than usual.
  const share = 1 - Math.exp((-1.6 * elapsed) / typicalMs);
  return (
    <div class="looking">
      <div class="looking-frame">
        <span class="scan" aria-hidden="true" />
      </div>
      <p role="status">{doing[mode]}…</p>
      <progress max={1} value={share} aria-label="Progress of the check" />
      <p class="small muted">
        <span class="number">{(elapsed / 1000).toFixed(1)} s</span> · usually about {milliseconds(typicalMs)}
      </p>
      <Button small onClick={onStop}>
        Stop
      </Button>
    </div>
  );
}
