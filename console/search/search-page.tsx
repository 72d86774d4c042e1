import { useState } from 'preact/hooks';
import { withoutDisclosure } from '../alerts/alert-texts.ts';
import type { MomentSearchResult } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { Field, TextInput } from '../parts/field.tsx';
import { pluralize } from '../parts/pluralize.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { PageHead } from '../shell/page-head.tsx';
import { routeUrls } from '../shell/routes.ts';
import { When } from '../time/when.tsx';
import { useSearch } from './use-search.ts';
import type { SearchState } from './use-search.ts';

/** Searches the memory of all watches: what was found as pictures, and a sentence about what nobody saw. */
export function SearchPage() {
  const [query, setQuery] = useState('');
  const { state, start, stop } = useSearch();
  const submit = (event: Event) => {
    event.preventDefault();
    if (query.trim() !== '') void start(query.trim());
  };
  return (
    <>
      <PageHead title="Search" lead="In all pictures that a model has judged, of all watches." />
      <div class="stack">
        <form class="panel search-form" role="search" onSubmit={submit}>
          <Field label="What do you look for?">
            {(ids) => (
              <TextInput
                {...ids}
                value={query}
                onValue={setQuery}
                placeholder="A white delivery van"
                maxLength={500}
                autoFocus
              />
            )}
          </Field>
          <Button kind="primary" type="submit" disabled={query.trim() === ''}>
            Search
          </Button>
        </form>
        {state && <Progress state={state} onStop={stop} />}
        {state?.problem && <ProblemNote problem={state.problem} onRetry={() => void start(state.query)} />}
        {state && <Results results={state.results} />}
        {state?.newest && !state.isRunning && !state.thorough && (
          <More thorough={state.newest.thorough} onMore={(estimate) => void start(state.query, estimate)} />
        )}
      </div>
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
          ? `${pluralize(looked, 'picture')} checked by the model, ${pluralize(results.length, 'visit')} found…`
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

function Results({ results }: Pick<SearchState, 'results'>) {
  if (results.length === 0) return null;
  return (
    <ul class="watch-board" aria-label="Results">
      {results.map((result) => (
        <Result key={result.moment.moment_id} result={result} />
      ))}
    </ul>
  );
}

function Result({
  result: { moment, watch_name: name, matched },
}: {
  result: SearchState['results'][number];
}) {
  const { scene, verdicts, picture_url: picture } = moment;
  const text = scene ?? withoutDisclosure(verdicts[0]?.explanation ?? '');
  return (
    <li class="panel watch-card">
      {picture !== null && <ProtectedPicture path={`/moments/${moment.moment_id}/picture`} alt={text} />}
      <div class="stack gap-3">
        <p class="spread titled">
          <a href={routeUrls.watch(moment.watch_id)}>{name}</a> <When at={moment.at} />
        </p>
        {text !== '' && <p class="small muted">{text}</p>}
        {matched === null && <Badge>found in words only</Badge>}
      </div>
    </li>
  );
}

type MoreProps = {
  thorough: MomentSearchResult['thorough'];
  onMore: (estimate: MomentSearchResult['thorough']) => void;
};

/** Offers to look at one picture of each visit, with what it costs. */
function More({ thorough, onMore }: MoreProps) {
  const { visits, exact, model_calls: calls, cost_usd: usd } = thorough;
  if (visits === 0) return null;
  const cost = [
    pluralize(calls, 'model call'),
    ...(usd === null || usd === 0 ? [] : [`about $${usd.toFixed(2)}`]),
  ];
  return (
    <div class="row">
      <Button onClick={() => onMore(thorough)}>Check every visit</Button>
      <span class="small muted">
        {exact ? '' : 'about '}
        {pluralize(visits, 'picture')}, {cost.join(', ')}
      </span>
    </div>
  );
}
