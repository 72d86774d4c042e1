import { useEffect, useRef, useState } from 'preact/hooks';
import { asProblem, type Problem } from '../api/problem.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { CodeBlock, Skeleton } from '../parts/panel.tsx';
import { Checkbox } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Logo } from '../shell/logo.tsx';
import { ThemeToggle } from '../shell/theme-toggle.tsx';
import { pictureUrl, readLabelSet, storeLabel } from './label-set.ts';
import type { Expected, LabelExample, LabelSet } from './label-set.ts';
import { applyAction, findLabelAction, openLabels } from './label-state.ts';
import type { LabelAction, LabelState } from './label-state.ts';

const choices = [
  { action: 'yes', label: 'Yes', key: 'y' },
  { action: 'no', label: 'No', key: 'n' },
  { action: 'unclear', label: 'Unclear', key: 'u' },
] as const;

/** Labels a set with the keyboard or with buttons; each label is stored immediately. */
export function LabelPage() {
  const [set, setSet] = useState<LabelSet>();
  const [state, setState] = useState<LabelState>();
  const [problem, setProblem] = useState<Problem>();
  const [announcement, setAnnouncement] = useState('');

  const load = async () => {
    setProblem(undefined);
    try {
      const read = await readLabelSet();
      setSet(read);
      setState(openLabels(read.examples));
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  useEffect(() => void load(), []);

  const run = (action: LabelAction) => {
    if (!state || problem) return;
    const next = applyAction(state, action);
    setState(next.state);
    setAnnouncement(announce(next.state, action));
    if (next.change)
      storeLabel(next.change.index, next.change.expected).catch((error: unknown) =>
        setProblem(asProblem(error)),
      );
  };
  useLabelKeys(run);

  return (
    <main class="stack gap-3 label-page" aria-label="Label a set">
      <header class="spread">
        <Logo />
        <ThemeToggle />
      </header>
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
      {problem && <ProblemNote problem={problem} onRetry={() => void load()} />}
      {!set && !problem && <Skeleton rows={5} />}
      {set && state && <Labeller set={set} state={state} onAction={run} />}
    </main>
  );
}

function useLabelKeys(run: (action: LabelAction) => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const action = findLabelAction(event);
      if (action === undefined || event.repeat) return;
      event.preventDefault();
      latest.current(action);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

type LabellerProps = { set: LabelSet; state: LabelState; onAction: (action: LabelAction) => void };

function Labeller({ set, state, onAction }: LabellerProps) {
  const [showsVerdict, setShowsVerdict] = useState(false);
  const example = set.examples[state.at];
  if (!example) return null;
  const total = state.labels.length;
  const done = total - state.labels.filter((label) => label === null).length;
  return (
    <>
      <h1>Label {set.name}</h1>
      <div class="row gap-3">
        <progress max={total} value={done} aria-label="Labelled examples" />
        <span class="small muted">
          {done} of {total} labelled
        </span>
      </div>
      <figure>
        {/* A new element for each example, so that the frame before it does not stay visible. */}
        <img key={state.at} class="picture" src={pictureUrl(state.at)} alt={`Frame of ${example.name}`} />
        <figcaption class="small muted">
          {state.at + 1} · {example.name}
        </figcaption>
      </figure>
      <p class="label-condition">“{example.condition}”</p>
      <p class="muted">Does this hold in the picture?</p>
      <div class="row gap-3" role="group" aria-label="Label">
        {choices.map(({ action, label, key }) => (
          <Button
            key={action}
            kind={state.labels[state.at] === action ? 'primary' : 'plain'}
            onClick={() => onAction(action)}
          >
            {label} <kbd>{key}</kbd>
          </Button>
        ))}
      </div>
      <div class="row gap-3">
        <Button small disabled={state.at === 0} onClick={() => onAction('previous')}>
          Previous <kbd>←</kbd>
        </Button>
        <Button small disabled={state.at === total - 1} onClick={() => onAction('next')}>
          Next <kbd>→</kbd>
        </Button>
        <Button small disabled={state.undo.length === 0} onClick={() => onAction('undo')}>
          Undo <kbd>z</kbd>
        </Button>
      </div>
      <Checkbox
        label="Show the verdict of the model"
        hint="Hidden, so that it does not influence your label"
        checked={showsVerdict}
        onChecked={setShowsVerdict}
      />
      {showsVerdict && <Verdict example={example} expected={state.labels[state.at] ?? null} />}
      {done === total && (
        <section class="panel" aria-label="What to do next">
          <p>All examples are labelled. Measure the model, in a terminal:</p>
          <CodeBlock label="Command" code={`npm run watchpost -- evaluate ${set.name}`} />
        </section>
      )}
    </>
  );
}

function Verdict({ example: { verdict }, expected }: { example: LabelExample; expected: Expected }) {
  if (!verdict) return <p class="muted">This example has no verdict of a model.</p>;
  const differs = expected === (verdict.triggered ? 'no' : 'yes');
  return (
    <p>
      <Badge tone={differs ? 'bad' : 'neutral'}>{verdict.triggered ? 'It holds' : 'It does not hold'}</Badge>{' '}
      {verdict.explanation}
    </p>
  );
}

function announce({ at, labels }: LabelState, action: LabelAction): string {
  const place = `Example ${at + 1} of ${labels.length}`;
  if (action === 'next' || action === 'previous') return place;
  return action === 'undo' ? `Label removed. ${place}` : `Labelled ${action}. ${place}`;
}
