import type { Watch } from '../api/types.ts';
import { useResource } from '../api/use-resource.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { callsText } from '../try/price.ts';
import { MomentCard } from './moment-card.tsx';

/**
 * Answers a question: what was stated, what nobody saw, and the moments that show it. The same question in another
 * object is asked again.
 */
export function Answer({ asked, watches }: { asked: { question: string }; watches: Watch[] }) {
  const { api } = useSession();
  const {
    value: answer,
    problem,
    reload,
  } = useResource((signal) => api.askMoments(asked.question, signal), [asked]);
  const shown = answer?.statements.flatMap(({ moments }) => moments) ?? [];
  const moments = [...new Map(shown.map((moment) => [moment.moment_id, moment])).values()];
  return (
    <>
      {!problem && (
        <section class="panel stack" aria-label="Answer">
          <p role="status">{answer?.answer ?? 'Reading the memory…'}</p>
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
          {moments.map((moment) => (
            <MomentCard key={moment.moment_id} moment={moment} watches={watches} />
          ))}
        </ul>
      )}
    </>
  );
}
