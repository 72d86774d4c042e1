import type { MeteredCheckResult, ModelUse } from '../api/check-result.ts';
import type { Boxes, CheckRequest } from '../api/types.ts';
import { useBlobAddress } from '../api/use-blob-address.ts';
import { Badge } from '../parts/badge.tsx';
import { BoxedPicture } from '../parts/boxed-picture.tsx';
import { Stat, Stats } from '../parts/stat.tsx';
import { milliseconds } from '../time/format.ts';
import { checkCost } from './price.ts';

const modes = { frames: 'One frame', clip: 'Clip', hybrid: 'Frame and clip' };

/** Shows the result of a check: frame, verdict, explanation, latency, cost and model. */
export function CheckVerdict({ answer, request }: { answer: MeteredCheckResult; request: CheckRequest }) {
  const cost = checkCost(answer.use);
  return (
    <article class="verdict" aria-label="Verdict">
      <div class="verdict-picture">
        <Frame base64={answer.frame_b64} boxes={answer.boxes} />
      </div>
      <div class="verdict-body">
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
