import { beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../../adapters/http/app.ts';
import { mintKey } from '../../../../core/access/api-key.ts';
import type { Job } from '../../../../core/records/job.ts';
import { createMonitor } from '../../../support/create-jobs.ts';
import { createWorld, monitorRequest, type World } from '../../../support/world.ts';

let world: World;
let job: Job;
beforeEach(async () => {
  world = createWorld();
  job = await createMonitor(monitorRequest(), 'harbour', world.c);
});

async function get(path: string, caller = job.caller): Promise<Response> {
  const minted = mintKey({ caller, scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  return createApp(world.c).request(`/api${path}`, { headers: { authorization: `Bearer ${minted.text}` } });
}

const bytes = async (response: Response) => [...new Uint8Array(await response.arrayBuffer())];

test('a job returns the newest captured frame, also one that the pre-filter skipped', async () => {
  const path = `/jobs/${job.run_id}/frame`;
  expect((await get(path)).status).toBe(404);
  world.script.captures.push({ frame: new Uint8Array([255, 216, 255, 1]) });
  const step = await world.tick(await world.begin({ run_id: job.run_id, generation: 0 }));
  expect(await bytes(await get(path))).toEqual([255, 216, 255, 1]);
  world.script.moved.push(false);
  world.script.captures.push({ frame: new Uint8Array([255, 216, 255, 2]) });
  await world.tick(step);
  const response = await get(path);
  expect(response.headers.get('content-type')).toBe('image/jpeg');
  expect(response.headers.get('vary')).toBe('Authorization');
  expect(await bytes(response)).toEqual([255, 216, 255, 2]);
  expect(await (await get(`/jobs/${job.run_id}`)).json()).toMatchObject({
    stats: { frames_skipped: 1, last_frame_at: expect.any(String) },
  });
});
