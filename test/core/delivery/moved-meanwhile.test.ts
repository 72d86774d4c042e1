import { expect, test } from 'vitest';
import type { DestinationResult } from '../../../core/ports/delivery.ts';
import { createEditedWatch, down, old, other, team } from '../../support/watches/edited-watch.ts';

const rejected = { status: 400, outcome: 'rejected' } as const;

/**
 * A watch whose destination gets another address during the attempt with this number of an opening, which has this
 * result. Attempts before fail.
 */
async function moveDuring(attempt: number, result: Partial<DestinationResult>) {
  let attempts = 0;
  const watch = await createEditedWatch([team], async ({ url, type }) => {
    if (url !== old || type !== 'alert_opened') return {};
    attempts += 1;
    if (attempts < attempt) return down;
    await watch.edit({ destinations: [{ ...team, url: other }] });
    return result;
  });
  await watch.tick(true);
  return watch;
}

test.each([
  ['given up', rejected, [`${other} alert_closed cleared`]],
  ['accepted', {}, []],
])(
  'an opening that is %s at its retry holds nothing back at the new address',
  async (_, result, closings) => {
    const watch = await moveDuring(2, result);
    await watch.pass(60);
    expect(await watch.states()).toMatchObject([{ waiting: [] }]);
    watch.take();
    await watch.tick(false);
    await watch.pass(60);
    expect(watch.take()).toEqual(closings);
    expect(await watch.states()).toMatchObject([{ waiting: [], notified: [] }]);
  },
);

test('the new address gets no end of an opening that the address before accepts late', async () => {
  const watch = await moveDuring(1, {});
  await watch.pass(10);
  await watch.tick(false);
  await watch.pass(60);
  expect(watch.take()).toEqual([
    `${old} watch_changed created`,
    `${old} alert_opened`,
    `${other} watch_changed changed`,
  ]);
});

test.each([1, 2])(
  'the new address gets an opening whose attempt %i fails, and its end behind it',
  async (attempt) => {
    const watch = await moveDuring(attempt, down);
    await watch.pass(attempt === 1 ? 1 : 10);
    await watch.tick(false);
    await watch.pass(600);
    expect(watch.take().filter((each) => each.startsWith(other))).toEqual([
      `${other} watch_changed changed`,
      `${other} alert_opened`,
      `${other} alert_closed cleared`,
    ]);
  },
);
