import { useState, useEffect, useRef } from 'preact/hooks';
import { EmptyState, Stat, Stats } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import type { CheckRequest, InputMode, Boxes } from '../api/types.ts';
import { walkByCheck } from '../walk/use-walk-test.ts';
import { WalkTest } from '../walk/walk-test.tsx';
import { type Draft, checkRequest, drafts, emptyDraft, walkRequest } from './draft.ts';
import { StartJob } from './start-job.tsx';
import { CheckForm } from './check-form.tsx';
import { FindCamera } from './find-camera.tsx';
import { milliseconds, useNow } from '../time/format.ts';
import { Button } from '../parts/button.tsx';
import type { MeteredCheckResult, ModelUse } from '../api/check-result.ts';
import { asProblem, type Problem } from '../api/problem.ts';
import { useBlobAddress } from '../api/use-blob-address.ts';
import { Badge } from '../parts/badge.tsx';
import { BoxedPicture } from '../parts/protected-picture.tsx';
import { checkCost } from './price.ts';

const modes = { frames: 'One frame', clip: 'Clip', hybrid: 'Frame and clip' };

/** Shows the result of a check: frame, verdict, explanation, latency, cost and model. */
function CheckVerdict({ answer, request }: { answer: MeteredCheckResult; request: CheckRequest }) {
  const cost = checkCost(answer.use);
  return (
    <article class="stack verdict" aria-label="Verdict">
      <div>
        <Frame base64={answer.frame_b64} boxes={answer.boxes} />
      </div>
      <div class="stack gap-2 at-start">
        <VerdictBadge answer={answer} />
        <p class="quoted">“{request.condition}”</p>
        <p>{answer.explanation}</p>
        <Stats>
          <Stat label="Latency" value={milliseconds(answer.latency_ms)} note={modes[request.input_mode]} />
          <Stat label="Cost" value={cost.text} note={cost.note} />
          {answer.use && <Stat label="Model" value={answer.use.model} note={modelNote(answer.use)} />}
        </Stats>
      </div>
    </article>
  );
}

function VerdictBadge({ answer: { triggered, judged } }: { answer: MeteredCheckResult }) {
  if (judged === false) return <Badge tone="warn">Not judged</Badge>;
  return (
    <Badge tone={triggered ? 'alert' : 'neutral'} dot={triggered}>
      {triggered ? 'The condition holds' : 'The condition does not hold'}
    </Badge>
  );
}

/** Names the provider of a model and the time that it took, which the latency includes. */
function modelNote({ provider, model, milliseconds: took }: ModelUse): string | undefined {
  return (
    [...(provider === model ? [] : [provider]), ...(took === null ? [] : [milliseconds(took)])].join(', ') ||
    undefined
  );
}

function Frame({ base64, boxes }: { base64: string | undefined; boxes: Boxes }) {
  const address = useBlobAddress(base64);
  return address === undefined ? (
    <span class="picture missing" />
  ) : (
    <BoxedPicture address={address} alt="Checked frame" boxes={boxes} />
  );
}

/** State of the single check. `since` is in epoch milliseconds. */
type CheckState =
  | { state: 'idle' }
  | { state: 'looking'; since: number; mode: InputMode }
  | { state: 'seen'; answer: MeteredCheckResult; request: CheckRequest }
  | { state: 'failed'; problem: Problem };

/**
 * Typical latency before the first check, in milliseconds (measured with the built-in model and a local model server).
 */
const firstGuess: Record<InputMode, number> = { frames: 2_500, clip: 5_000, hybrid: 6_000 };

/** Runs one check at a time and tracks the typical latency per mode. A new check aborts the previous one. */
function useCheck() {
  const { api } = useSession();
  const [look, setLook] = useState<CheckState>({ state: 'idle' });
  const abort = useRef<AbortController>(undefined);
  const typical = useRef(firstGuess);

  useEffect(() => () => abort.current?.abort(), []);

  const run = async (request: CheckRequest) => {
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    setLook({ state: 'looking', since: Date.now(), mode: request.input_mode });
    try {
      const answer = await api.look(request, controller.signal);
      typical.current = { ...typical.current, [request.input_mode]: Math.max(answer.latency_ms, 300) };
      if (!controller.signal.aborted) setLook({ state: 'seen', answer, request });
    } catch (error) {
      if (!controller.signal.aborted) setLook({ state: 'failed', problem: asProblem(error) });
    }
  };
  const stop = () => {
    abort.current?.abort();
    setLook({ state: 'idle' });
  };
  return { look, run, stop, typicalMs: (mode: InputMode) => typical.current[mode] };
}

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
    if (
      look.state === 'failed' &&
      (next.stream_url !== draft.stream_url || next.condition !== draft.condition)
    )
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
      <div class="columns form-first">
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
        <section class="panel stack look-result" aria-label="Result">
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
          onStream={(url) => {
            change({ stream_url: url });
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
    <div class="stack gap-3 looking">
      <div class="looking-frame" />
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
