import type { WatchHealth } from '../../records/watch-state.ts';
import type { WatchChangeReason } from '../../records/watch-event.ts';
import { rules } from '../../rules.ts';
import { compareViews, isTelling } from '../../sight/view.ts';
import { isOver } from '../../time.ts';

type View = WatchHealth['view'];

/**
 * Decides whether a camera shows the view in which the regions of its watch were drawn. `shown` describes the newest
 * picture; absent without one, and without regions. Another view counts once several pictures in a row show it for a
 * time: a passing truck and a headlight do not count.
 */
export function decideView(
  before: View,
  shown: string | undefined,
  now: Date,
): { view: View; reason?: WatchChangeReason } {
  if (shown === undefined) return { view: before };
  if (before === undefined)
    return isTelling(shown) ? { view: { drawn: shown, other: null } } : { view: before };
  const compared = compareViews(before.drawn, shown);
  if (compared === 'unclear') return { view: before };
  if (compared === 'same')
    return {
      view: { ...before, other: null },
      ...(before.other?.told && { reason: 'view_restored' }),
    };
  const { since = now.toISOString(), pictures = 0, told = false } = before.other ?? {};
  const isTold = pictures + 1 >= rules.otherViewPictures && isOver(since, rules.otherViewSeconds, now);
  return {
    view: {
      ...before,
      other: { since, pictures: Math.min(pictures + 1, rules.otherViewPictures), told: told || isTold },
    },
    ...(isTold && !told && { reason: 'view_changed' }),
  };
}
