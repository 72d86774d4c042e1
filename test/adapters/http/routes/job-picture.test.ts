import { expect, test } from 'vitest';
import { createApp } from '../../../../adapters/http/app.ts';
import { mintKey } from '../../../../core/access/api-key.ts';
import { createMonitor } from '../../../support/create-jobs.ts';
import { readEventImage } from '../../../../core/job/read-jobs.ts';
import { createWorld, monitorRequest } from '../../../support/world.ts';
import { judgingEach } from '../../../support/scripted-model.ts';

const boxes = [{ label: 'boat', score: 0.7, x: 0.1, y: 0.2, width: 0.3, height: 0.4 }];

test('the evidence of an alert from a clip is its frame that shows the condition, and boxes are drawn on it', async () => {
  const world = createWorld();
  const job = await createMonitor(monitorRequest({ input_mode: 'clip' }), 'harbour', world.c);
  world.c.vision.judge = judgingEach(async () => ({
    triggered: true,
    explanation: 'At 1.5 s of the clip: a boat.',
    tokens: { input_tokens: 0, output_tokens: 0 },
    boxes,
    shown_at_seconds: 1.5,
  }));
  world.c.drawBoxes = async (jpeg, drawn) => new Uint8Array([...jpeg, drawn.length]);
  world.c.cutFrame = async (clip, atSeconds) => new Uint8Array([...clip, 10 * atSeconds]);
  world.script.captures.push({ frame: new Uint8Array([255, 216, 255, 1]), clip: new Uint8Array([7]) });
  await world.tick(await world.begin({ run_id: job.run_id, generation: 0 }));
  const events = await world.c.jobs.events(job.run_id, 0, 100, new Date(0));
  const { sequence = 0 } = events.find(({ type }) => type === 'watch_triggered') ?? {};
  const read = async (withBoxes: boolean) => [
    ...((await readEventImage(job.run_id, 'harbour', sequence, world.c, withBoxes)) ?? []),
  ];
  expect(await read(false)).toEqual([7, 15]);
  expect(await read(true)).toEqual([7, 15, boxes.length]);
});

test('boxes=true draws the boxes of an alert on a copy, and the stored picture stays', async () => {
  const world = createWorld();
  const job = await createMonitor(monitorRequest(), 'harbour', world.c);
  const drawing = {
    ...world.c,
    vision: {
      ...world.c.vision,
      judge: judgingEach(async () => ({
        triggered: true,
        explanation: 'A boat.',
        tokens: { input_tokens: 0, output_tokens: 0 },
        boxes,
      })),
    },
    drawBoxes: async (jpeg: Uint8Array, drawn: readonly unknown[]) => new Uint8Array([...jpeg, drawn.length]),
  };
  Object.assign(world.c, drawing);
  world.script.captures.push({ frame: new Uint8Array([255, 216, 255, 1]) });
  await world.tick(await world.begin({ run_id: job.run_id, generation: 0 }));
  const minted = mintKey({ caller: job.caller, scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  const get = async (path: string) =>
    createApp(world.c).request(`/api/jobs/${job.run_id}/${path}`, {
      headers: { authorization: `Bearer ${minted.text}` },
    });

  const { events } = (await (await get('events')).json()) as any;
  const alert = events.find(({ type }: { type: string }) => type === 'watch_triggered');
  expect(alert.data.boxes).toEqual(boxes);
  const picture = async (query: string) => [
    ...new Uint8Array(await (await get(`media/${alert.data.sequence}${query}`)).arrayBuffer()),
  ];
  expect(await picture('?boxes=true')).toEqual([255, 216, 255, 1, 1]);
  expect(await picture('')).toEqual([255, 216, 255, 1]);
  expect((await get(`media/${alert.data.sequence}?boxes=perhaps`)).status).toBe(422);
});
