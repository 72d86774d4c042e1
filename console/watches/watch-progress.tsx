import { useRef } from 'preact/hooks';
import type { Api } from '../api/api.ts';
import type { Watch, WatchEvent } from '../api/types.ts';
import { useResource } from '../api/use-resource.ts';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { timeZone } from '../time/format.ts';
import { Clock } from '../time/when.tsx';
import { progressText } from './watch-labels.ts';

const everyMs = 3_000;
const shown = 20;

type Progress = Extract<WatchEvent, { type: 'progress' }>;

/** Shows the newest checks of a watch. */
export function WatchProgress({ watch }: { watch: Watch }) {
  const { api } = useSession();
  const { watch_id: watchId, conditions } = watch;
  const texts = new Map(conditions.map((each) => [each.condition_id, each.condition]));
  const reader = useRef(createProgressReader(api, watchId, watch.state.last_check));
  const { value, problem, reload } = useResource((signal) => reader.current(signal), [watchId], everyMs);
  return (
    <Panel title="Recent checks" aside={timeZone}>
      {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
      {value?.length === 0 && <p class="muted">No checks yet.</p>}
      <ol aria-label="Recent checks">
        {(value ?? []).map((event) => (
          <li class="entry" key={event.data.sequence}>
            <span class="small muted number">
              <Clock at={event.timestamp} />
            </span>
            <span>{progressText(event, texts)}</span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** Creates a reader of the newest checks, newest first. Later calls read only events that are new. */
function createProgressReader(api: Api, watchId: string, lastCheck: number) {
  // Each check has an event, so the sequence is at least the number of the check.
  let after = Math.max(0, lastCheck - shown);
  let newest: Progress[] = [];
  return async (signal: AbortSignal): Promise<Progress[]> => {
    for (;;) {
      const page = await api.watchEvents(watchId, after, signal);
      const progress = page.events.filter((event) => event.type === 'progress');
      newest = [...progress.toReversed(), ...newest].slice(0, shown);
      after = page.next_after;
      if (!page.has_more) return newest;
    }
  };
}
