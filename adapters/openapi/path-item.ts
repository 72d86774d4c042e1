import type { ErrorCode } from '../../core/errors.ts';
import { errorEnvelopeSchema, validationErrorSchema } from '../../core/responses/errors.ts';
import { streamedEventSchema } from '../../core/responses/events.ts';
import { requestSchema, responseSchema } from './components.ts';
import { exampleOf, invalidRequest, statusOf } from './examples/errors.ts';
import { jsonSchema } from './json-schema.ts';
import type { JsonObject } from './json-schema.ts';
import type { Answer, Named, ObjectSchema, Operation } from './operation.ts';

/** An operation as an OpenAPI operation object. */
export function operationObject(operation: Operation): JsonObject {
  const parameters = parametersOf(operation);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.title,
    description: operation.description,
    security: [{ apiKey: operation.scope ? [operation.scope] : [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(operation.body ? { requestBody: requestBody(operation.body, operation.examples.body) } : {}),
    responses: { ...successes(operation), ...failures(operation) },
  };
}

function parametersOf(operation: Operation): JsonObject[] {
  const { parameters, query, headers, fixedHeaders = {}, examples } = operation;
  return [
    ...inPlace('path', parameters, examples.parameters),
    ...inPlace('query', query),
    ...inPlace('header', headers),
    ...Object.entries(fixedHeaders).map(([name, value]) => ({
      name,
      in: 'header',
      required: true,
      // Not const: openapi-python-client takes a header's one value only as an enum.
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

function successes({ answer, examples }: Operation): JsonObject {
  const ok = { '200': success(answer, examples.answer) };
  const ends = answer.kind === 'json' ? answer.asEvents?.ends : undefined;
  return ends === undefined ? ok : { ...ok, '204': { description: ends } };
}

function success(answer: Answer, examples: Named | undefined): JsonObject {
  if (answer.kind === 'jpeg') return { description: answer.description, content: { 'image/jpeg': {} } };
  return {
    description: answer.description,
    content: {
      'application/json': json(responseSchema(answer.schema), examples),
      ...(answer.asEvents ? { 'text/event-stream': eventStream(answer.asEvents) } : {}),
    },
  };
}

function eventStream({ description, example }: { description: string; example: string }): JsonObject {
  const schema = {
    type: 'string',
    description,
    contentMediaType: 'text/event-stream',
    contentSchema: responseSchema(streamedEventSchema),
  };
  return { schema, example };
}

function json(schema: JsonObject, examples: Named | undefined): JsonObject {
  if (!examples) return { schema };
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return { schema, examples: Object.fromEntries(named) };
}

/** One response a status; each code that it can have is an example. */
function failures(operation: Operation): JsonObject {
  const failed: JsonObject = takesInput(operation) ? { '422': invalid() } : {};
  for (const [status, codes] of Map.groupBy(errorCodesOf(operation), statusOf))
    failed[status] = envelope(codes);
  return failed;
}

/** Every code that an operation can answer with. */
export function errorCodesOf(operation: Operation): ErrorCode[] {
  return [
    ...operation.errors,
    'UNAUTHORIZED',
    'FORBIDDEN',
    ...(operation.body ? (['PAYLOAD_TOO_LARGE', 'REQUEST_TIMEOUT', 'RATE_LIMITED'] as const) : []),
    'INTERNAL_ERROR',
  ];
}

function envelope(codes: ErrorCode[]): JsonObject {
  return {
    description: codes.join(', '),
    content: {
      'application/json': {
        schema: responseSchema(errorEnvelopeSchema),
        examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code)])),
      },
    },
    ...(codes.includes('UNAUTHORIZED')
      ? { headers: { 'WWW-Authenticate': { schema: { type: 'string' }, description: 'Bearer' } } }
      : {}),
  };
}

function takesInput({ body, parameters, query, headers }: Operation): boolean {
  return Boolean(body ?? parameters ?? query ?? headers);
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
