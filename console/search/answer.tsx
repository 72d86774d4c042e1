import { useState } from 'preact/hooks';
import type { AskResult, Watch } from '../api/types.ts';
import { useResource } from '../api/use-resource.ts';
import { Button } from '../parts/button.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { callsText } from '../try/price.ts';
import { MomentCard } from './moment-card.tsx';

/** Question, of the time before `to` if it is there. */
export type Asked = { question: string; to?: string };

type Props = { asked: Asked; watches: Watch[] };

/**
 * Answers a question: what was stated, what nobody saw, and the moments that show it. The same question in another
 * object is asked again.
 */
export function Answer({ asked, watches }: Props) {
  const { api } = useSession();
  const [earlier, setEarlier] = useState<{ after: Asked; asked: Asked }>();
  const { value: answer, problem, reload } = useResource((signal) => api.askMoments(asked, signal), [asked]);
  const [texts, moments] = answer ? arrange(answer) : [[], []];
  const nextTo = answer?.next_to ?? null;
  const isContinued = earlier?.after === asked;
  return (
    <>
      {!problem && (
        <section class="panel stack" aria-label="Answer">
          <div role="status">
            {answer ? texts.map((text) => <p key={text}>{text}</p>) : 'Reading the memory…'}
          </div>
          {answer && (
            <p class="small muted">
              {answer.sentence}
              {answer.model_calls > 0 && ` ${callsText(answer)}.`}
            </p>
          )}
        </section>
      )}
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {moments.length > 0 && (
        <ul class="watch-board" aria-label="Moments of the answer">
          {moments.map(({ moment, text }) => (
            <MomentCard key={moment.moment_id} moment={moment} watches={watches}>
              {text !== undefined && <p class="small">{text}</p>}
            </MomentCard>
          ))}
        </ul>
      )}
      {nextTo !== null && !isContinued && (
        <div class="row">
          <Button onClick={() => setEarlier({ after: asked, asked: { ...asked, to: nextTo } })}>
            Show the earlier visits
          </Button>
        </div>
      )}
      {isContinued && <Answer asked={earlier.asked} watches={watches} />}
    </>
  );
}

function isOfOne({ moments }: AskResult['statements'][number]): boolean {
  return moments.length === 1;
}

/** Divides an answer: the sentences that are read first, and each moment with the later statement about it alone. */
function arrange({ answer, statements: [first, ...others] }: AskResult) {
  const texts = first
    ? [first, ...others.filter((each) => !isOfOne(each))].map(({ text }) => text)
    : [answer];
  const captions = new Map(
    others.filter(isOfOne).map(({ text, moments: [moment] }) => [moment?.moment_id, text]),
  );
  const shown = [...others.filter(isOfOne), ...(first ? [first] : []), ...others].flatMap(
    ({ moments }) => moments,
  );
  const moments = [...new Map(shown.map((moment) => [moment.moment_id, moment])).values()];
  return [texts, moments.map((moment) => ({ moment, text: captions.get(moment.moment_id) }))] as const;
}
