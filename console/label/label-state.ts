import type { Expected, LabelExample } from './label-set.ts';

/** Position in a set, its labels, and the labels before each change, newest last. */
export type LabelState = {
  at: number;
  labels: readonly Expected[];
  undo: readonly { index: number; before: Expected }[];
};

export type LabelAction = 'yes' | 'no' | 'unclear' | 'undo' | 'next' | 'previous';

const keys: { [Key in string]?: LabelAction } = {
  y: 'yes',
  n: 'no',
  u: 'unclear',
  z: 'undo',
  backspace: 'undo',
  arrowright: 'next',
  arrowleft: 'previous',
};

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/**
 * Returns the action of a key; Ctrl+Z and Cmd+Z undo too. Returns undefined for other keys and shortcuts of the
 * browser.
 */
export function findLabelAction({ key, ctrlKey, metaKey, altKey }: Press): LabelAction | undefined {
  const name = key.toLowerCase();
  if (ctrlKey || metaKey || altKey) return name === 'z' && !altKey ? 'undo' : undefined;
  return keys[name];
}

/** Starts at the first example without a label. */
export function openLabels(examples: readonly LabelExample[]): LabelState {
  const labels = examples.map(({ expected }) => expected);
  return { at: Math.max(0, labels.indexOf(null)), labels, undo: [] };
}

/** Label to store after an action; undefined if it changes none. */
export type LabelChange = { index: number; expected: Expected } | undefined;

/**
 * Applies an action. A label moves on to the next example without one; an undo returns to the example that it restores.
 */
export function applyAction(
  state: LabelState,
  action: LabelAction,
): { state: LabelState; change: LabelChange } {
  const { at, labels, undo } = state;
  if (action === 'next' || action === 'previous') {
    const moved = at + (action === 'next' ? 1 : -1);
    return { state: { ...state, at: Math.max(0, Math.min(labels.length - 1, moved)) }, change: undefined };
  }
  if (action === 'undo') {
    const last = undo.at(-1);
    if (!last) return { state, change: undefined };
    const restored = labels.with(last.index, last.before);
    return {
      state: { at: last.index, labels: restored, undo: undo.slice(0, -1) },
      change: { index: last.index, expected: last.before },
    };
  }
  const labelled = labels.with(at, action);
  const before = labels[at] ?? null;
  return {
    state: { at: nextWithout(labelled, at), labels: labelled, undo: [...undo, { index: at, before }] },
    change: { index: at, expected: action },
  };
}

/** Returns the next example without a label, else the first without, else the following one. */
function nextWithout(labels: readonly Expected[], index: number): number {
  const after = labels.indexOf(null, index + 1);
  if (after >= 0) return after;
  const first = labels.indexOf(null);
  return first >= 0 ? first : Math.min(labels.length - 1, index + 1);
}
