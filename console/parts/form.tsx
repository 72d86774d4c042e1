import { createContext, type ComponentChildren } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import type { Action } from '../api/use-action.ts';

/** Problem of a form: what is wrong with a field, and all of it in a sentence for its end. */
type FormProblem = { find: (name: string) => string | undefined; summary: string | undefined };

const FormContext = createContext<FormProblem>({ find: () => undefined, summary: undefined });

export const useFormProblem = () => useContext(FormContext);

type Props = {
  action: Pick<Action<never>, 'problem' | 'clear'>;
  onSubmit: () => unknown;
  label?: string;
  children: ComponentChildren;
};

/**
 * Renders a form that marks the fields that the service refuses, until they or a part of them are changed. The first
 * of them gets the focus. A problem of no field goes with the next change.
 */
export function Form({ action: { problem, clear }, onSubmit, label, children }: Props) {
  const element = useRef<HTMLFormElement>(null);
  const [mended, setMended] = useState<{ of?: Problem; names: readonly string[] }>({ names: [] });
  const [summary, setSummary] = useState<string>();
  // A field that was changed before this problem is not mended.
  const names = mended.of === problem ? mended.names : [];
  const left = problem?.fields.filter(({ path }) => !names.some((name) => isMended(path, name))) ?? [];
  useLayoutEffect(() => {
    const form = problem && element.current;
    setSummary(form ? summarize(problem, form) : undefined);
    const first = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
    const fold = first?.closest('details');
    if (fold) fold.open = true;
    first?.focus();
  }, [problem]);
  const change = ({ target }: Event) => {
    const name = target instanceof Element ? readName(target.closest('[data-field]')) : undefined;
    if (!problem) return;
    if (name !== undefined) setMended({ of: problem, names: [...names, name] });
    if (left.every(({ path }) => name !== undefined && isMended(path, name))) clear();
  };
  const find = (name: string) => left.find(({ path }) => isOf(path, name))?.text;
  return (
    <FormContext.Provider value={{ find, summary }}>
      <form
        ref={element}
        class="stack"
        aria-label={label}
        onSubmit={(event) => {
          event.preventDefault();
          void onSubmit();
        }}
        onInput={change}
      >
        {children}
      </form>
    </FormContext.Provider>
  );
}

function isOf(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`);
}

/** True if the change of a field answers the refusal of `path`: of itself, of a part of it, or of the whole. */
function isMended(path: string, name: string): boolean {
  return isOf(path, name) || isOf(name, path);
}

function readName(field: Element | null): string | undefined {
  return field instanceof HTMLElement ? field.dataset['field'] : undefined;
}

/** Returns what is wrong by the labels of the form; undefined if no field has a name. */
function summarize({ fields }: Problem, form: HTMLFormElement): string | undefined {
  const named = [...form.querySelectorAll('[data-field]')];
  const sentences = fields.map(({ path, text }) => {
    const field = named.find((each) => isOf(path, readName(each) ?? ''));
    const label =
      field?.querySelector('label, span')?.firstChild?.textContent ?? path.replaceAll(/[._]/g, ' ');
    return `${label}: ${text}`;
  });
  return sentences.length === 0 ? undefined : sentences.join(' ');
}
