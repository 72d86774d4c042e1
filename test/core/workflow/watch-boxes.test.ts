import { beforeEach, expect, test } from 'vitest';
import { createHttpCaller } from '../../support/api/http-caller.ts';
import { createWorld, type World } from '../../support/world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

const boxes = [{ label: 'person', score: 0.74, x: 0.1, y: 0.2, width: 0.3, height: 0.4 }];
const condition = { condition: 'A person is at the gate', checks_to_open: 1, checks_considered: 1 };
const request = { name: 'Gate', stream_url: 'rtsp://camera.example/1', conditions: [condition] };
let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;

beforeEach(async () => {
  world = createWorld();
  world.c.drawBoxes = async (jpeg, drawn) => new Uint8Array([...jpeg, drawn.length]);
  call = await createHttpCaller(world);
});

async function runWatch(verdict: object) {
  world.c.vision.judge = judgingEach(async () => ({
    triggered: true,
    explanation: 'Looks like 1 person.',
    tokens: { input_tokens: 0, output_tokens: 0 },
    ...verdict,
  }));
  const { body: watch } = await call('POST', '/watches', request);
  await world.tick(await world.begin({ run_id: watch.watch_id, generation: 0 }));
  const { body } = await call('GET', `/watches/${watch.watch_id}/events`);
  return (type: string) => body.events.find((event: { type: string }) => event.type === type).data;
}

test('an alert of a watch has the boxes of its opening in event and record', async () => {
  const find = await runWatch({ boxes });
  expect(find('alert_opened').boxes).toEqual(boxes);
  const { body } = await call('GET', '/alerts');
  expect(body.alerts[0].boxes).toEqual(boxes);
});

test('boxes=true draws the boxes of an alert on a copy, and the stored evidence stays', async () => {
  await runWatch({ boxes });
  const [alert] = (await call('GET', '/alerts')).body.alerts;
  const { readAlertFrame } = await import('../../../core/watch/read-frames.ts');
  const read = async (drawn: boolean) =>
    readAlertFrame(alert.alert_id, { moment: 'opened', boxes: drawn }, 'harbour', world.c);
  const plain = await read(false);
  expect([...(await read(true))]).toEqual([...plain, boxes.length]);
  expect(await read(false)).toEqual(plain);
});

test('the evidence of an alert from a clip is its frame that shows the condition, and outlives the clip', async () => {
  world.c.cutFrame = async (clip, atSeconds) => new Uint8Array([...clip, 10 * atSeconds]);
  world.script.captures.push({ clip: new Uint8Array([7]) });
  await runWatch({ boxes, shown_at_seconds: 1.5 });
  const [alert] = (await call('GET', '/alerts')).body.alerts;
  const { readAlertFrame } = await import('../../../core/watch/read-frames.ts');
  const read = async (drawn: boolean) => [
    ...(await readAlertFrame(alert.alert_id, { moment: 'opened', boxes: drawn }, 'harbour', world.c)),
  ];
  expect(await read(false)).toEqual([7, 15]);
  expect(await read(true)).toEqual([7, 15, boxes.length]);
});

test('an alert closes at the next check if the thing left during the clip, though nothing moves then', async () => {
  world.script.captures.push({ clip: new Uint8Array([7]) });
  world.script.moved.push(true, false);
  const verdicts = [{ triggered: true, shown_at_seconds: 1.5 }, { triggered: false }];
  world.c.vision.judge = judgingEach(async () => ({
    triggered: false,
    explanation: 'Looks like 1 person.',
    tokens: { input_tokens: 0, output_tokens: 0 },
    ...verdicts.shift(),
  }));
  const conditions = [{ ...condition, checks_to_close: 1 }];
  const { body: watch } = await call('POST', '/watches', { ...request, conditions });
  await world.tick(await world.tick(await world.begin({ run_id: watch.watch_id, generation: 0 })));
  const { body } = await call('GET', `/watches/${watch.watch_id}/events`);
  const types = body.events
    .map(({ type }: { type: string }) => type)
    .filter((type: string) => type !== 'progress');
  expect(types).toEqual(['watch_changed', 'alert_opened', 'alert_closed']);
});

test('the evidence is the frame of the capture where clips cannot be cut', async () => {
  world.script.captures.push({ frame: new Uint8Array([255, 216, 9]), clip: new Uint8Array([7]) });
  await runWatch({ boxes, shown_at_seconds: 1.5 });
  const [alert] = (await call('GET', '/alerts')).body.alerts;
  const { readAlertFrame } = await import('../../../core/watch/read-frames.ts');
  const frame = await readAlertFrame(alert.alert_id, { moment: 'opened', boxes: false }, 'harbour', world.c);
  expect([...frame]).toEqual([255, 216, 9]);
});

test('an alert without boxes has no such field', async () => {
  const find = await runWatch({});
  expect(find('alert_opened')).not.toHaveProperty('boxes');
});

test('a condition that the model cannot judge is in progress with the reason of the model', async () => {
  const explanation = "Not sure: 1 person (0.21). Not judged: 'falls'.";
  const find = await runWatch({ triggered: false, judged: false, explanation });
  expect(find('progress').conditions).toMatchObject([{ triggered: null, explanation }]);
});

test('an alert of a watch names the version of its prompt in event and record', async () => {
  const find = await runWatch({ prompt_version: 'strict-1' });
  expect(find('alert_opened').prompt_version).toBe('strict-1');
  expect((await call('GET', '/alerts')).body.alerts[0].prompt_version).toBe('strict-1');
});
