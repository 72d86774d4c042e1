import { useState } from 'preact/hooks';
import { useBlobAddress } from '../api/use-blob-address.ts';
import { Badge } from '../parts/badge.tsx';
import { BoxedPicture } from '../parts/protected-picture.tsx';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useNow, pluralize } from '../time/format.ts';
import { findMotion } from './motion.ts';
import { walkSeconds, useWalkTest, type WalkPicture, type WalkState } from './use-walk-test.ts';
import { describeScore, isPerhaps, judgeWalk, scoreWalk, type WalkVerdict } from './score.ts';

type Props = { check: (signal: AbortSignal) => Promise<WalkPicture> };

/**
 * Checks a picture a second for a minute, while a person walks in front of the camera: boxes, a beep and a score of
 * each condition.
 */
export function WalkTest({ check }: Props) {
  const [beeps, setBeeps] = useState(true);
  const { state, start, stop } = useWalkTest(check, beeps);
  const { newest, pictures, problem, since } = state;
  const boxes = newest?.verdicts.flatMap((verdict) => verdict.boxes) ?? [];
  const address = useBlobAddress(newest?.frame);
  return (
    <div class="stack">
      {address === undefined ? (
        <span class="picture missing" />
      ) : (
        <BoxedPicture address={address} alt="Newest checked frame" boxes={boxes} />
      )}
      <Scores state={state} />
      {problem && <ProblemNote problem={problem} />}
      {since !== undefined && <Remaining since={since} />}
      <div class="row">
        {since === undefined ? (
          <Button onClick={start}>Start again</Button>
        ) : (
          <Button onClick={stop}>Stop</Button>
        )}
        <Checkbox label="Beep when seen" checked={beeps} onChecked={setBeeps} />
      </div>
      <p class="small muted">
        {pluralize(pictures.length, 'different picture')}. Each check is a model call per condition; it
        changes no state and sends nothing.
      </p>
    </div>
  );
}

/** Shows the score of each condition, and announces a sight, a loss and the result to screen readers. */
function Scores({ state: { pictures, newest, since } }: { state: WalkState }) {
  const motion = findMotion(pictures.map(({ gray }) => gray));
  const scores = (newest?.verdicts ?? []).map((verdict, index) => {
    const verdicts = pictures.flatMap((picture) => picture.verdicts[index] ?? []);
    const score = scoreWalk(motion, verdicts);
    return { verdict, text: describeScore(score), result: judgeWalk(score) };
  });
  const seen = scores.flatMap(({ verdict }) => (verdict.triggered ? [verdict.condition] : []));
  const result = `The walk test has ended. ${scores.map(({ text }) => text).join(' ')}`;
  const now = seen.length === 0 ? 'Not seen.' : `Seen: ${seen.join(', ')}`;
  return (
    <>
      <p role="status" class="visually-hidden">
        {since === undefined ? newest && result : newest ? now : 'The walk test has started.'}
      </p>
      <ul class="stack divided" aria-label="Scores">
        {scores.map(({ verdict, text, result: { label, tone } }, index) => (
          <li key={index}>
            <div class="spread titled">
              <strong>{verdict.condition}</strong>
              {since === undefined ? <Badge tone={tone}>{label}</Badge> : <SightBadge verdict={verdict} />}
            </div>
            <p>{text}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

function SightBadge({ verdict }: { verdict: WalkVerdict }) {
  if (verdict.triggered) return <Badge tone="good">Seen now</Badge>;
  if (isPerhaps(verdict)) return <Badge tone="warn">Perhaps now</Badge>;
  return <Badge>{verdict.judged === false ? 'Not judged' : 'Not seen now'}</Badge>;
}

function Remaining({ since }: { since: number }) {
  const elapsed = Math.min(Math.max(0, (useNow(250) - since) / 1000), walkSeconds);
  return (
    <>
      <progress max={walkSeconds} value={elapsed} aria-label="Progress of the walk test" />
      <p class="small muted">
        <span class="number">{Math.ceil(walkSeconds - elapsed)} s</span> left: walk through the picture.
      </p>
    </>
  );
}
