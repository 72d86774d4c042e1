import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../adapters/http/app.ts';
import { apiCall } from '../../../adapters/mcp/arguments.ts';
import { operations } from '../../../adapters/openapi/operations.ts';
import { webhooks } from '../../../adapters/openapi/webhooks.ts';
import { keyOf, tellApiStory } from '../../support/api-story.ts';
import type { CallOperation } from '../../support/api-story.ts';
import { expectDocumented } from '../../support/expect-documented.ts';
import { createWorld } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.close());

/** Calls the app itself, past every client, and holds each answer against the document. */
async function documentedCaller(seen: Set<string>): Promise<CallOperation> {
  const app = createApp(world.c);
  const authorization = `Bearer ${await keyOf(world)}`;
  return async (id, given = {}) => {
    const operation = operations.find((each) => each.id === id);
    if (!operation) throw new Error(`No operation ${id}`);
    // The path is filled in here, unchecked: the app's own answer to a bad one is wanted.
    const { parameters = z.object({}), ...rest } = operation;
    const filled = rest.path.replace(/\{(\w+)\}/g, (_, name: string) => String(given[name]));
    const others = Object.entries(given).filter(([name]) => !(name in parameters.shape));
    const call = apiCall({ ...rest, path: filled }, Object.fromEntries(others), authorization);
    const response = await app.request(`/api${call.path}`, call.init);
    seen.add(`${id} ${response.status === 200 ? 'succeeds' : 'fails'}`);
    return expectDocumented(call.init.method, call.path, response);
  };
}

test('everything that the app answers is in the document, to the last field', async () => {
  const seen = new Set<string>();
  await tellApiStory(await documentedCaller(seen), world);
  for (const { id } of operations) expect([...seen]).toContain(`${id} succeeds`);
});

test('every webhook is as documented, to the last field', async () => {
  await tellApiStory(await documentedCaller(new Set()), world);
  expect(world.sent).not.toHaveLength(0);
  for (const { body } of world.sent) {
    const event = JSON.parse(body);
    const documented = webhooks.find(({ type }) => type === event.type);
    expect(documented?.schema.parse(event)).toEqual(event);
  }
});
