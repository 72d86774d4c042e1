import { expect, test } from 'vitest';
import { decideView } from '../../../../core/policies/watch/health.ts';
import { viewLength, type WatchHealth } from '../../../../core/records/watch-state.ts';
import { addSeconds } from '../../../../core/time.ts';

const [drawn, turned, dark] = ['0', '8', '.'].map((cell) => cell.repeat(viewLength));

/** Shows a view every `seconds`, and returns what is reported with its time. */
function show(views: readonly (string | undefined)[], seconds: number) {
  const start = new Date('2026-03-01T12:00:00.000Z');
  let view: WatchHealth['view'];
  const said: string[] = [];
  for (const [index, shown] of views.entries()) {
    const decided = decideView(view, shown, addSeconds(start, index * seconds));
    view = decided.view;
    if (decided.reason) said.push(`${decided.reason} after ${index * seconds} s`);
  }
  return { said, view };
}
const times = (count: number, view: string | undefined) => Array<string | undefined>(count).fill(view);

test('another view is said once it stands for ten minutes, and its end with the first picture of the view before', () => {
  const views = [...times(5, drawn), ...times(80, turned), ...times(3, drawn)];
  expect(show(views, 10).said).toEqual(['view_changed after 650 s', 'view_restored after 850 s']);
});

test('a few pictures of another view within a long time are not said, and dark ones neither count nor end it', () => {
  expect(show([drawn, ...times(4, turned)], 300).said).toEqual([]);
  expect(show([drawn, ...times(5, turned)], 300).said).toEqual(['view_changed after 1500 s']);
  const views = [drawn, ...times(40, turned), ...times(60, dark), ...times(60, turned)];
  expect(show(views, 10).said).toEqual(['view_changed after 1010 s']);
});

test('something that hides the view for minutes, and comes back, is not said', () => {
  const hidden = [...times(50, turned), drawn];
  expect(show([drawn, ...hidden, ...hidden, ...hidden], 10).said).toEqual([]);
});

test('the first picture that shows enough is the view of the regions, and a watch without regions has none', () => {
  expect(show([dark, dark, turned, turned], 400).view).toEqual({ drawn: turned, other: null });
  expect(show(times(9, undefined), 400).view).toBeUndefined();
});
