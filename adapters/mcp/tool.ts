import type { Tool, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { errorEnvelopeSchema, validationErrorSchema } from '../../core/responses/errors.ts';
import { jsonSchema } from '../openapi/json-schema.ts';
import type { Effect, EndpointDeclaration } from '../http/endpoint.ts';
import type { EndpointResponse } from '../http/endpoint-response.ts';
import type { ObjectSchema } from '../http/read-request.ts';
import { argumentName } from './arguments.ts';

/** Returns an endpoint as an MCP tool: its name, and the schemas of its arguments and of its structured content. */
export function toTool(endpoint: EndpointDeclaration): Tool {
  return {
    name: endpoint.id,
    title: endpoint.title,
    description: endpoint.description,
    inputSchema: {
      ...jsonSchema(argumentsSchema(endpoint), 'request'),
      type: 'object',
      additionalProperties: false,
    },
    ...outputSchema(endpoint.response),
    annotations: annotations[endpoint.effect],
  };
}

/** Merges path, query, header and body parameters into one object; their names do not collide (tested). */
function argumentsSchema({
  request: { parameters, query, headers, body },
}: EndpointDeclaration): ObjectSchema {
  const fields = { ...parameters?.shape, ...query?.shape, ...body?.shape };
  for (const [name, field] of Object.entries(headers?.shape ?? {})) fields[argumentName(name)] = field;
  return z.object(fields);
}

/**
 * Returns the schema of the response or of one of the two error bodies, because clients validate the content of a failed call
 * against the same schema. An image becomes an image block and is left out.
 */
function outputSchema(response: EndpointResponse): Pick<Tool, 'outputSchema'> {
  if (response.kind === 'jpeg') return {};
  const schema = response.picture ? response.schema.omit({ [response.picture]: true }) : response.schema;
  return { outputSchema: { type: 'object', anyOf: [jsonSchema(schema, 'response'), ...failures] } };
}

const failures = [errorEnvelopeSchema, validationErrorSchema].map((schema) => jsonSchema(schema, 'response'));

const annotations: Record<Effect, ToolAnnotations> = {
  reads: { readOnlyHint: true, openWorldHint: false },
  looks: { readOnlyHint: true, openWorldHint: true },
  starts: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  changes: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  removes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};
