import { expect, test } from 'vitest';
import { applyAction, findLabelAction, openLabels } from '../../console/label/label-state.ts';
import type { LabelAction } from '../../console/label/label-state.ts';
import type { Expected } from '../../console/label/label-set.ts';

const open = (...labels: Expected[]) =>
  openLabels(labels.map((expected) => ({ name: '', condition: '', expected, verdict: null })));

function press(state: ReturnType<typeof open>, ...actions: LabelAction[]) {
  const changes: unknown[] = [];
  let now = state;
  for (const action of actions) {
    const next = applyAction(now, action);
    now = next.state;
    if (next.change) changes.push([next.change.index, next.change.expected]);
  }
  return { at: now.at, labels: now.labels, changes };
}

test('labelling starts at the first example without a label, and moves on to the next one without', () => {
  const state = open('yes', null, 'no', null);
  expect(state.at).toBe(1);
  expect(press(state, 'yes')).toMatchObject({ at: 3, labels: ['yes', 'yes', 'no', null] });
  expect(press(state, 'next', 'next', 'unclear')).toMatchObject({ at: 1 });
});

test('an undo restores the label before and returns to its example, change by change', () => {
  const state = open(null, 'no');
  expect(press(state, 'yes', 'undo')).toEqual({
    at: 0,
    labels: [null, 'no'],
    changes: [
      [0, 'yes'],
      [0, null],
    ],
  });
  expect(press(state, 'next', 'yes', 'undo')).toMatchObject({ at: 1, labels: [null, 'no'] });
  expect(press(state, 'undo')).toMatchObject({ at: 0, changes: [] });
});

test('moving stays within the set', () => {
  expect(press(open(null, null), 'previous').at).toBe(0);
  expect(press(open(null, null), 'next', 'next', 'next').at).toBe(1);
});

test('keys label and undo, and shortcuts of the browser stay its own', () => {
  const key = (name: string, extra = {}) =>
    findLabelAction({ key: name, ctrlKey: false, metaKey: false, altKey: false, ...extra });
  expect(['y', 'N', 'u', 'z', 'Backspace', 'ArrowRight', 'ArrowLeft', 'q'].map((name) => key(name))).toEqual([
    'yes',
    'no',
    'unclear',
    'undo',
    'undo',
    'next',
    'previous',
    undefined,
  ]);
  expect(key('z', { ctrlKey: true })).toBe('undo');
  expect(key('n', { ctrlKey: true })).toBeUndefined();
});
