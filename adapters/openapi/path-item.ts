import type { ErrorCode } from '../../core/errors.ts';
import { errorEnvelopeSchema, validationErrorSchema } from '../../core/responses/errors.ts';
import { streamedEventSchema } from '../../core/responses/events.ts';
import { endpointErrorCodes, type EndpointDeclaration, type Named } from '../http/endpoint.ts';
import type { EndpointResponse, StreamedEvents } from '../http/endpoint-response.ts';
import type { ObjectSchema } from '../http/validate-request.ts';
import { errorExample, invalidRequest, errorStatus } from './error-examples.ts';
import { jsonSchema, componentSchemas, refTo, type JsonObject } from './json-schema.ts';
import type { z } from 'zod';
import { apiNames } from '../../core/api-names.ts';

export function operationObject(endpoint: EndpointDeclaration): JsonObject {
  const { request, examples } = endpoint;
  const parameters = listParameters(endpoint);
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.title,
    description: endpoint.description,
    security: [{ apiKey: endpoint.scope === 'any' ? [] : [endpoint.scope] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(request.body ? { requestBody: requestBody(request.body, examples.body) } : {}),
    responses: { ...successes(endpoint), ...failures(endpoint) },
  };
}

function listParameters({ request, fixedHeaders = {}, examples }: EndpointDeclaration): JsonObject[] {
  const { parameters, query, headers } = request;
  return [
    ...inPlace('path', parameters, examples.parameters),
    ...inPlace('query', query),
    ...inPlace('header', headers),
    ...Object.entries(fixedHeaders).map(([name, value]) => ({
      name,
      in: 'header',
      required: true,
      // Not `const`: openapi-python-client supports a single header value only as an enum.
      schema: { type: 'string', enum: [value] },
    })),
  ];
}

function inPlace(
  place: string,
  schema: ObjectSchema | undefined,
  examples: Record<string, string | number> = {},
): JsonObject[] {
  if (!schema) return [];
  const { required = [] } = jsonSchema(schema, 'request');
  return Object.entries(schema.shape).map(([name, field]) => ({
    name,
    in: place,
    required: Array.isArray(required) && required.includes(name),
    ...(field.description === undefined ? {} : { description: field.description }),
    schema: requestSchema(field),
    ...(name in examples ? { example: examples[name] } : {}),
  }));
}

function requestBody(schema: ObjectSchema, examples: Named | undefined): JsonObject {
  return { required: true, content: { 'application/json': json(requestSchema(schema), examples) } };
}

function successes({ response, examples }: EndpointDeclaration): JsonObject {
  const ok = {
    '200': success(response, examples.response),
    ...(response.kind === 'mp4' && ranges),
  };
  const ends = response.kind === 'json' ? response.asEvents?.ends : undefined;
  return ends === undefined ? ok : { ...ok, '204': { description: ends } };
}

/** Statuses of a response to a request for a range. */
const ranges = {
  '206': { description: 'The range of `Range: bytes=…`', content: { 'video/mp4': {} } },
  '416': { description: 'The range begins after the end' },
};

function success(response: EndpointResponse, examples: Named | undefined): JsonObject {
  const { description } = response;
  if (response.kind === 'jpeg') return { description, content: { 'image/jpeg': {} } };
  if (response.kind === 'mp4') return { description, content: { 'video/mp4': {} } };
  if (response.kind === 'text') return { description, content: { [response.contentType]: text(examples) } };
  return {
    description,
    content: {
      'application/json': json(responseSchema(response.schema), examples),
      ...(response.asEvents ? { 'text/event-stream': eventStream(response.asEvents) } : {}),
    },
  };
}

function eventStream({ description, example, schema: events }: StreamedEvents): JsonObject {
  const schema = {
    type: 'string',
    description,
    contentMediaType: 'text/event-stream',
    contentSchema: responseSchema(events ?? streamedEventSchema),
  };
  return { schema, example };
}

function text(examples: Named | undefined): JsonObject {
  return json({ type: 'string' }, examples);
}

function json(schema: JsonObject, examples: Named | undefined): JsonObject {
  if (!examples) return { schema };
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return { schema, examples: Object.fromEntries(named) };
}

/** Returns one response per status, with an example for each code. */
function failures(endpoint: EndpointDeclaration): JsonObject {
  const failed: JsonObject = Object.keys(endpoint.request).length > 0 ? { '422': invalid() } : {};
  for (const [status, codes] of Map.groupBy(endpointErrorCodes(endpoint), errorStatus))
    failed[status] = envelope(codes);
  return failed;
}

function envelope(codes: ErrorCode[]): JsonObject {
  return {
    description: codes.join(', '),
    content: {
      'application/json': {
        schema: responseSchema(errorEnvelopeSchema),
        examples: Object.fromEntries(codes.map((code) => [code, errorExample(code)])),
      },
    },
    ...(codes.includes('UNAUTHORIZED')
      ? { headers: { 'WWW-Authenticate': { schema: { type: 'string' }, description: 'Bearer' } } }
      : {}),
  };
}

function invalid(): JsonObject {
  return {
    description: 'The request does not fit the schema',
    content: {
      'application/json': {
        schema: responseSchema(validationErrorSchema),
        examples: { missing: { value: invalidRequest } },
      },
    },
  };
}

/**
 * Returns the named schemas by name: `bodies` and their parts as requests accept them, all others as responses state
 * them.
 */
export function namedSchemas(bodies: readonly z.ZodType[]): Record<string, JsonObject> {
  const inRequests = componentSchemas(apiNames, 'request');
  const accepted: Record<string, JsonObject> = {};
  const accept = (id: string): void => {
    const schema = inRequests[id];
    if (schema === undefined || id in accepted) return;
    accepted[id] = schema;
    for (const [, part = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      accept(part);
  };
  for (const body of bodies) accept(apiNames.get(body)?.id ?? '');
  const schemas = { ...componentSchemas(apiNames, 'response'), ...accepted };
  return Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns a reference if the schema is named, else the schema. */
function requestSchema(schema: z.ZodType): JsonObject {
  return refOr(schema) ?? jsonSchema(schema, 'request');
}

export function responseSchema(schema: z.ZodType): JsonObject {
  return refOr(schema) ?? jsonSchema(schema, 'response');
}

function refOr(schema: z.ZodType): JsonObject | undefined {
  const id = apiNames.get(schema)?.id;
  return id === undefined ? undefined : { $ref: refTo(id) };
}
