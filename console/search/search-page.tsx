import { useState } from 'preact/hooks';
import type { MomentSearchResult, Watch } from '../api/types.ts';
import { useResource } from '../api/use-resource.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { Field, TextInput } from '../parts/field.tsx';
import { pluralize } from '../time/format.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { callsText } from '../try/price.ts';
import { AlertMeButton } from '../watches/alert-me.tsx';
import { Answer, type Asked } from './answer.tsx';
import { type SearchState, isQuestion, useSearch } from './use-search.ts';
import { MomentCard } from './moment-card.tsx';

/**
 * Searches the memory of all watches, or answers a question from it: pictures, and a sentence about what nobody saw.
 */
export function SearchPage() {
  const { api } = useSession();
  const [text, setText] = useState('');
  const [asked, setAsked] = useState<Asked>();
  const { state, start, stop, clear } = useSearch();
  const { value: watches = [] } = useResource((signal) => api.watches(signal), []);
  const wanted = text.trim();
  const submit = (event: Event) => {
    event.preventDefault();
    if (wanted === '') return;
    const asks = isQuestion(wanted);
    setAsked(asks ? { question: wanted } : undefined);
    if (asks) clear();
    else void start(wanted);
  };
  return (
    <>
      <PageHead title="Search" lead="In all pictures that a model has judged, of all watches." />
      <div class="stack">
        <form class="panel search-form" role="search" onSubmit={submit}>
          <Field label="What do you look for?" hint="Words, or a question such as “When did the van come?”">
            {(ids) => (
              <TextInput
                {...ids}
                value={text}
                onValue={setText}
                placeholder="A white delivery van"
                maxLength={500}
                autoFocus
              />
            )}
          </Field>
          <Button kind="primary" type="submit" disabled={wanted === ''}>
            {isQuestion(wanted) ? 'Ask' : 'Search'}
          </Button>
        </form>
        {asked && <Answer asked={asked} watches={watches} />}
        {state && <Found state={state} watches={watches} start={start} stop={stop} />}
      </div>
    </>
  );
}

type FoundProps = Pick<ReturnType<typeof useSearch>, 'start' | 'stop'> & {
  state: SearchState;
  watches: Watch[];
};

/** Shows what a search has found, and what can follow it. */
function Found({ state, watches, start, stop }: FoundProps) {
  const { query, isRunning, newest, thorough, problem } = state;
  const isOver = newest !== undefined && !isRunning;
  return (
    <>
      <Progress state={state} onStop={stop} />
      {problem && <ProblemNote problem={problem} onRetry={() => void start(query)} />}
      <Results state={state} watches={watches} />
      {isOver && !thorough && (
        <More thorough={newest.thorough} onMore={(estimate) => void start(query, estimate)} />
      )}
      {isOver && state.results.length === 0 && <AlertMeButton watches={watches} words={query} />}
    </>
  );
}

/** Shows how far a search is, then its sentence. */
function Progress({
  state: { isRunning, newest, results, thorough },
  onStop,
}: {
  state: SearchState;
  onStop: () => void;
}) {
  const looked = newest?.looked_at ?? 0;
  const all = thorough ? newest?.thorough.visits : undefined;
  return (
    <section class="panel stack" aria-label="Answer">
      <p role="status">
        {isRunning
          ? `${pluralize(results.length, 'visit')} found so far: ${pluralize(looked, 'picture')} checked by the model…`
          : (newest?.sentence.replace('`thorough`', 'a thorough search') ??
            'Stopped before the first answer.')}
      </p>
      {isRunning && (
        <div class="row">
          <progress
            aria-label="Progress of the search"
            {...(all && { max: all, value: Math.min(looked, all) })}
          />
          <Button small onClick={onStop}>
            Stop
          </Button>
        </div>
      )}
      {!isRunning && newest && newest.next_cursor !== null && (
        <p class="small muted">The search ended before the model had checked all pictures that it chose.</p>
      )}
    </section>
  );
}

function Results({ state: { results, query }, watches }: { state: SearchState; watches: Watch[] }) {
  if (results.length === 0) return null;
  return (
    <ul class="watch-board" aria-label="Results">
      {results.map(({ moment, watch_name: name, matched }) => (
        <MomentCard key={moment.moment_id} moment={moment} name={name} watches={watches} words={query}>
          {matched === null && <Badge>found in words only</Badge>}
        </MomentCard>
      ))}
    </ul>
  );
}

type MoreProps = {
  thorough: MomentSearchResult['thorough'];
  onMore: (estimate: MomentSearchResult['thorough']) => void;
};

/** Offers to look at one picture of each visit, with what it costs. */
function More({ thorough, onMore }: MoreProps) {
  const { visits, exact } = thorough;
  if (visits === 0) return null;
  return (
    <div class="row">
      <Button onClick={() => onMore(thorough)}>Check every visit</Button>
      <span class="small muted">
        {exact ? '' : 'about '}
        {pluralize(visits, 'picture')}, {callsText(thorough)}
      </span>
    </div>
  );
}
