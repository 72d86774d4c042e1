import { beforeEach, expect, test } from 'vitest';
import { createHttpCaller } from '../../../support/api/http-caller.ts';
import { createWorld, type World } from '../../../support/world.ts';

let world: World;
beforeEach(() => void (world = createWorld()));

const ntfy = { destination_id: 'phone', type: 'ntfy', url: 'https://ntfy.example/secret', token: 'tk_1' };
const request = {
  name: 'Gate',
  stream_url: 'rtsp://camera.example/1',
  conditions: [{ condition: 'A person is at the gate' }],
};

test('a new watch tells those whom another one tells, unless it names its own', async () => {
  const call = await createHttpCaller(world);
  const create = async (query = '', fields = {}) =>
    (await call('POST', `/watches${query}`, { ...request, ...fields })).body;
  const { watch_id: first } = await create('', { destinations: [{ ...ntfy, notify: 'everything' }] });
  const copy = await create(`?destinations_of=${first}`);
  expect(await world.c.watches.secrets(copy.watch_id)).toEqual({
    watch_id: copy.watch_id,
    destinations: [ntfy],
  });
  expect(copy.destinations).toMatchObject([{ destination_id: 'phone', notify: 'everything' }]);
  const slack = { type: 'slack', url: 'https://hooks.slack.example/T1' };
  const own = await create(`?destinations_of=${first}`, { destinations: [slack] });
  expect(own.destinations).toMatchObject([{ destination_id: 'slack' }]);
});

test('the destinations of a watch of another caller cannot be copied', async () => {
  const owner = await createHttpCaller(world);
  const { body } = await owner('POST', '/watches', { ...request, destinations: [ntfy] });
  const other = await createHttpCaller(world, 'other');
  expect(await other('POST', `/watches?destinations_of=${body.watch_id}`, request)).toMatchObject({
    status: 404,
    body: { error: { code: 'WATCH_NOT_FOUND' } },
  });
});
