import { describe, expect, test } from 'vitest';
import { createConsoleLink, readEvidence } from '../../../core/delivery/links.ts';
import { toNotification } from '../../../core/delivery/notification.ts';
import { asWatch } from '../../../core/records/run.ts';
import { destinationTypeSchema } from '../../../core/records/watch.ts';
import type { WatchEvent } from '../../../core/records/watch-event.ts';
import { createWatching, first, opened } from '../../support/watches/delivery.ts';
import { evidenceLinks, schedule } from '../../support/watches/watch-records.ts';

const box = { label: 'person', score: 0.9, x: 0.1, y: 0.1, width: 0.2, height: 0.5 };

/**
 * Returns a stored watch with an opening that has a box, and a host that draws: it adds the number of boxes to the
 * picture.
 */
async function openWithBox() {
  const { deps, watch, commit } = await createWatching(() => ({}));
  const event = opened(first);
  await commit([event.type === 'alert_opened' ? { ...event, data: { ...event.data, boxes: [box] } } : event]);
  const stored = asWatch(await deps.runs.getIncludingEnded(watch.run_id));
  const [logged] = await deps.runs.events(watch.run_id, 0, 10, new Date(0));
  return {
    watch: stored!,
    event: logged as WatchEvent,
    deps: {
      ...deps,
      media: { get: async () => new Uint8Array([255, 216]) },
      drawBoxes: async (jpeg: Uint8Array, boxes: readonly unknown[]) =>
        new Uint8Array([...jpeg, boxes.length]),
    },
  };
}

describe('the picture of a message', () => {
  test.each(destinationTypeSchema.options)(
    'its boxes are drawn for people, and not for programs: %s',
    async (type) => {
      const { watch, event, deps } = await openWithBox();
      const { frame, frameUrl } = await toNotification(event, watch, { type, include_frame: false }, deps);
      const isForPeople = ['slack', 'discord', 'ntfy', 'telegram', 'email', 'pagerduty'].includes(type);
      expect([...frame!]).toEqual(isForPeople ? [255, 216, 1] : [255, 216]);
      const link = Object.fromEntries(new URL(frameUrl!).searchParams);
      expect(link['boxes']).toBe(isForPeople ? 'true' : undefined);
      const { watch_id, sequence } = event;
      const read = await readEvidence(
        {
          watch_id,
          sequence,
          expires: Number(link['expires']),
          signature: link['signature']!,
          ...(isForPeople && { boxes: 'true' as const }),
        },
        { ...deps, signer: evidenceLinks.signer, now: () => new Date(event.timestamp) },
      );
      expect([...(await read.read({ first: 0, last: 9 }))]).toEqual([...frame!]);
    },
  );
});

describe('the facts of a message', () => {
  test('its times are in the zone of the schedule, else in that of the service', async () => {
    const { watch, event, deps } = await openWithBox();
    const settings = { type: 'email', include_frame: false } as const;
    const inZone = async (zone: typeof schedule | null) => {
      const set = { ...watch, config: { ...watch.config, schedule: zone } };
      const facts = { model: 'qwen3-vl:4b', timeZone: 'America/New_York' };
      return toNotification(event, set, settings, { ...deps, messageFacts: facts });
    };
    expect(await inZone(schedule)).toMatchObject({ timeZone: 'Europe/Berlin', model: 'qwen3-vl:4b' });
    expect(await inZone(null)).toMatchObject({ timeZone: 'America/New_York' });
  });

  test('its link is public, or at the address at which the caller opened the console, and says which', async () => {
    const { event } = await openWithBox();
    const path = `/console#/alerts/${first}`;
    const opens: Record<string, string> = { alice: 'http://192.168.1.5:8787' };
    const consoleAddress = (caller: string) => opens[caller];
    const origin = 'http://127.0.0.1:8787';
    const link = (caller: string, isPublic: boolean) =>
      createConsoleLink(event, caller, { origin, isPublic }, { consoleAddress });
    expect(link('alice', true)).toEqual({ url: `${origin}${path}`, note: '' });
    expect(link('alice', false)).toEqual({
      url: `${opens['alice']}${path}`,
      note: '',
    });
    expect(link('bob', false)).toEqual({
      url: `${origin}${path}`,
      note: expect.stringContaining('on the machine of the service only'),
    });
    const lost = { reason: 'unreachable' as const, lost_seconds: 60, open_alerts: [] };
    const { url } = createConsoleLink(
      { ...event, type: 'stream_lost', data: lost },
      'alice',
      { origin, isPublic: true },
      {},
    );
    expect(url).toBe(`${origin}/console#/watches/${event.watch_id}`);
  });
});
