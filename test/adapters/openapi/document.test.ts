import { describe, expect, test } from 'vitest';
import { createApp, nestedDocumentPath } from '../../../adapters/http/app.ts';
import { sessionPath } from '../../../adapters/http/console-session.ts';
import { endpoints } from '../../../adapters/http/endpoints/endpoints.ts';
import { openApiDocument, webhooks } from '../../../adapters/openapi/document.ts';
import { isDeliveredByWebhook } from '../../../core/records/delivery.ts';
import { newEventSchema } from '../../../core/records/event.ts';
import { streamedEventSchema } from '../../../core/responses/events.ts';
import { createWorld } from '../../support/world.ts';

const document: any = openApiDocument('https://watchpost.example.com/api');

test('the document has every route of the app but the session of the console and the way to itself, and no other', () => {
  const undocumented = [sessionPath, nestedDocumentPath];
  const world = createWorld();
  const routes = createApp(world.c)
    .routes.filter(
      ({ method, path }) => method !== 'ALL' && path.startsWith('/api/') && !undocumented.includes(path),
    )
    .map(({ method, path }) => `${method} ${path.slice('/api'.length).replace(/:(\w+)/g, '{$1}')}`);
  const documented = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect([...new Set(routes)].toSorted()).toEqual(documented.toSorted());
});

test('every endpoint has its own operation id', () => {
  const names = endpoints.map(({ id }) => id);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
});

test('every request and response has a named schema, so that clients have a type', () => {
  for (const item of Object.values<any>(document.paths)) {
    for (const { operationId, requestBody, responses } of Object.values<any>(item)) {
      const contents = [requestBody, ...Object.values<any>(responses)].map(
        (part) => part?.content?.['application/json'],
      );
      for (const content of contents.filter(Boolean)) {
        expect(content.schema, operationId).toEqual({
          $ref: expect.stringMatching(/^#\/components\/schemas\//),
        });
      }
    }
  }
});

describe.each(endpoints)('$id', ({ request: { parameters, body }, response, examples }) => {
  test('every example fits its schema', () => {
    if (parameters) expect(parameters.safeParse(examples.parameters)).toMatchObject({ success: true });
    if (body) expect(Object.keys(examples.body ?? {})).not.toEqual([]);
    for (const [name, value] of Object.entries(examples.body ?? {})) {
      expect(body?.safeParse(value), name).toMatchObject({ success: true });
    }
    if (response.kind !== 'json') return;
    expect(Object.keys(examples.response ?? {})).not.toEqual([]);
    for (const [name, value] of Object.entries(examples.response ?? {})) {
      expect(response.schema.parse(value), name).toEqual(value);
    }
  });

  test('the stream example of a streaming endpoint is an event stream', () => {
    if (response.kind !== 'json' || !response.asEvents) return;
    const data = response.asEvents.example.match(/^data: .*$/gm) ?? [];
    expect(data).not.toEqual([]);
    for (const line of data) {
      const value = JSON.parse(line.slice('data: '.length));
      const schema = response.asEvents.schema ?? streamedEventSchema;
      expect(schema.parse(value)).toEqual(value);
    }
  });
});

describe('webhooks', () => {
  test('all webhook events are documented', () => {
    const stored = newEventSchema.options
      .map((option) => option.shape.type.value)
      .filter((type) => isDeliveredByWebhook(type));
    expect(webhooks.map(({ type }) => type).toSorted()).toEqual([...stored, 'test'].toSorted());
  });

  test.each(webhooks)('the example of the webhook $type fits its schema', ({ type, schema, example }) => {
    expect(schema.parse(example)).toEqual(example);
    expect(example).toMatchObject({ type });
  });
});

test('coerced fields state their plain type, default and limits', () => {
  expect(document.components.schemas.MonitorRequest.properties.interval_seconds).toMatchObject({
    type: 'integer',
    minimum: 5,
    maximum: 300,
    default: 10,
  });
  expect(document.components.schemas.MonitorRequest.required).toEqual(['stream_url', 'condition']);
});

test('responses stay open, so that a new field breaks no client', () => {
  expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
});
