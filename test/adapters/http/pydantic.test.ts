import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { createWorld } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

/** Comparison with responses of FastAPI with Pydantic, recorded by `pydantic/generate.py`. */

type Entry = { type: string; loc: (string | number)[]; msg: string; ctx?: Record<string, unknown> };
type Case = {
  method: string;
  path: string;
  contentType: string | null;
  body: string;
  status: number;
  detail?: Entry[];
};

const { made_with: versions, cases } = JSON.parse(
  readFileSync(new URL('pydantic/expected.json', import.meta.url), 'utf8'),
) as { made_with: Record<string, string>; cases: Case[] };

let world: World;
let key: string;
beforeEach(async () => {
  world = createWorld();
  const minted = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  key = minted.text;
});
afterEach(() => world.close());

async function ask({ method, path, contentType, body }: Case) {
  const response = await createApp(world.c).request(`/api${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(contentType === null ? {} : { 'content-type': contentType }),
    },
    ...(method === 'GET' ? {} : { body: new TextEncoder().encode(body) }),
  });
  return { status: response.status, body: (await response.json()) as { detail: Entry[] } };
}

/** FastAPI names no next step, and this service does. */
function withoutRemediation(ctx: Entry['ctx'] = {}) {
  const rest = Object.entries(ctx).filter(([name]) => name !== 'remediation');
  return rest.length === 0 ? {} : { ctx: Object.fromEntries(rest) };
}

const short = (text: string) => (text.length > 90 ? `${text.slice(0, 90)}…` : text);
const titled = cases.map((one) => [one.method, short(one.path), short(one.body), one] as const);

describe(`validation compared with Pydantic ${versions['pydantic']}`, () => {
  test.each(titled.filter(([, , , { status }]) => status === 422))(
    'the 422 of %s %s %s has the same details',
    async (_, __, ___, one) => {
      const { status, body } = await ask(one);
      expect(status).toBe(422);
      expect(
        body.detail.map(({ type, loc, msg, ctx }: Entry) => ({ type, loc, msg, ...withoutRemediation(ctx) })),
      ).toEqual(one.detail);
    },
  );
});

describe('requests that Pydantic accepts', () => {
  test.each(titled.filter(([, , , { status }]) => status === 200))(
    'the request %s %s %s passes the schema',
    async (_, __, ___, one) => {
      expect((await ask(one)).status).not.toBe(422);
    },
  );
});
