import { useResource } from '../api/use-resource.ts';
import { EmptyState, Skeleton } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { TimeLine } from './time-line.tsx';

/** Shows the time line of all watches. */
export function TimelinePage() {
  const { api } = useSession();
  const { value: watches, problem, reload } = useResource((signal) => api.watches(signal), []);
  return (
    <>
      <PageHead title="Time line" lead="What each watch saw, and what nobody saw." />
      {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
      {!watches && !problem && <Skeleton rows={8} />}
      {watches?.length === 0 && <EmptyState icon="camera" title="No watches" />}
      {watches && watches.length > 0 && (
        <section class="panel" aria-label="Time line of all watches">
          <TimeLine watches={watches} />
        </section>
      )}
    </>
  );
}
