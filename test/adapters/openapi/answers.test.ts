import { beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../adapters/http/app.ts';
import { endpoints } from '../../../adapters/http/endpoints/endpoints.ts';
import { apiCall } from '../../../adapters/mcp/mcp-server.ts';
import { webhooks } from '../../../adapters/openapi/document.ts';
import { streamedEventSchema } from '../../../core/responses/events.ts';
import { readKey, tellApiStory, type CallOperation } from '../../support/api/api-story.ts';
import { expectDocumented } from '../../support/api/expect-documented.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

/** Calls the app without a client and validates each response against the document. */
async function documentedCaller(seen: Set<string>): Promise<CallOperation> {
  const app = createApp(world.c);
  const authorization = `Bearer ${await readKey(world)}`;
  return async (id, given = {}) => {
    const endpoint = endpoints.find((each) => each.id === id);
    if (!endpoint) throw new Error(`No endpoint ${id}`);
    // Fills in the path without validation, to get the app's own response to an invalid path.
    const { parameters = z.object({}), ...request } = endpoint.request;
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => String(given[name]));
    const others = Object.entries(given).filter(([name]) => !(name in parameters.shape));
    const call = apiCall({ ...endpoint, path, request }, Object.fromEntries(others), authorization);
    const response = await app.request(`/api${call.path}`, call.init);
    seen.add(`${id} ${response.status === 200 ? 'succeeds' : 'fails'}`);
    return expectDocumented(call.init.method, call.path, response);
  };
}

test('every response of the app matches the document, to the last field', async () => {
  const seen = new Set<string>();
  await tellApiStory(await documentedCaller(seen), world);
  for (const { id } of endpoints) expect([...seen]).toContain(`${id} succeeds`);
});

test('every webhook matches the document, to the last field', async () => {
  await tellApiStory(await documentedCaller(new Set()), world);
  expect(world.sent).not.toHaveLength(0);
  for (const { body } of world.sent) {
    const event = JSON.parse(body);
    const documented = webhooks.find(({ type }) => type === event.type);
    expect(documented?.schema.parse(event)).toEqual(event);
  }
});

test('every server-sent event matches the document, to the last field', async () => {
  const jobs = new Set<string>();
  const call = await documentedCaller(new Set());
  await tellApiStory(async (id, given) => {
    const body = await call(id, given);
    if (typeof body?.job_id === 'string') jobs.add(body.job_id);
    return body;
  }, world);
  const types = new Set<string>();
  for (const jobId of jobs) {
    const path = `/api/jobs/${jobId}/events`;
    const headers = { Authorization: `Bearer ${await readKey(world)}`, Accept: 'text/event-stream' };
    const response = await createApp(world.c).request(path, { headers });
    const text = await new Response(await expectDocumented('GET', path, response)).text();
    for (const line of text.match(/^data: .*$/gm) ?? []) {
      const event = JSON.parse(line.slice('data: '.length));
      expect(streamedEventSchema.parse(event)).toEqual(event);
      types.add(event.type);
    }
  }
  expect([...types].toSorted()).toEqual([
    'job_started',
    'job_stopped',
    'progress',
    'summary_generated',
    'watch_triggered',
  ]);
});
