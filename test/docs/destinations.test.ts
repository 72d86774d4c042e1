import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { destinationTypeSchema } from '../../core/records/watch.ts';
import { createHttpCaller } from '../support/api/http-caller.ts';
import { createWorld } from '../support/world.ts';
import { destinationExamples } from './destination-examples.ts';

const file: Record<string, unknown> = JSON.parse(readFileSync('docs/use/destination-examples.json', 'utf8'));
const examples = destinationExamples();
const page = readFileSync('docs/use/destinations.md', 'utf8');

test.each(Object.entries(examples))(
  'docs/use/destination-examples.json has what arrives at a destination of type %s',
  (type, expected) => {
    expect(file[type]).toEqual(expected);
  },
);

test('each type of destination that receives messages has an example, and docs/use/destination-examples.json no other', () => {
  const { heartbeat: _, ...receiving } = destinationTypeSchema.enum;
  expect(new Set(Object.keys(examples))).toEqual(new Set(Object.keys(receiving)));
  expect(Object.keys(file).toSorted()).toEqual(Object.keys(examples).toSorted());
});

test('the commands of Home Assistant on the page pause, resume and snooze a watch', async () => {
  const world = createWorld();
  const call = await createHttpCaller(world);
  const conditions = [{ condition: 'A person is here' }];
  const { body: watch } = await call('POST', '/watches', {
    name: 'Gate',
    stream_url: 'rtsp://a/1',
    conditions,
  });
  const [, text = ''] = /```yaml\n(rest_command:[^]*?)```/.exec(page) ?? [];
  const { rest_command: commands } = parse(text.replaceAll('!secret', ''));
  const run = async (name: string) => {
    const { url, method, payload } = commands[name];
    const path = new URL(url).pathname.replace('/api', '').replace('WATCH_ID', watch.watch_id);
    return (await call(method.toUpperCase(), path, payload)).body;
  };
  expect(await run('watchpost_pause')).toMatchObject({ status: 'paused' });
  expect(await run('watchpost_resume')).toMatchObject({ status: 'active' });
  const { state } = await run('watchpost_snooze');
  expect(state.conditions[0].snoozed_until).not.toBeNull();
});
