import type { Tool, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { jsonSchema } from '../openapi/json-schema.ts';
import type { Effect, EndpointDeclaration } from '../http/endpoint.ts';
import type { EndpointResponse } from '../http/endpoint-response.ts';
import { argumentFields } from './arguments.ts';
import { textsInToolTerms, toolDescription } from './tool-terms.ts';

/** Returns an endpoint as an MCP tool: its name, and the schemas of its arguments and of its structured content. */
export function toTool(endpoint: EndpointDeclaration): Tool {
  return {
    name: endpoint.id,
    title: endpoint.title,
    description: toolDescription(endpoint),
    inputSchema: {
      ...schemaInToolTerms(z.object(argumentFields(endpoint)), 'request'),
      type: 'object',
      additionalProperties: false,
    },
    ...outputSchema(endpoint.response),
    annotations: {
      ...annotations[endpoint.effect],
      idempotentHint: endpoint.idempotent ?? isReading(endpoint),
    },
  };
}

/**
 * Returns the schema of the response or of one of the two error bodies, because clients validate the content of a failed call
 * against the same schema. An image becomes an image block and is left out.
 */
function outputSchema(response: EndpointResponse): Pick<Tool, 'outputSchema'> {
  if (response.kind !== 'json') return {};
  const schema = response.picture ? response.schema.omit({ [response.picture]: true }) : response.schema;
  return { outputSchema: { type: 'object', anyOf: [schemaInToolTerms(schema, 'response'), ...failures] } };
}

/** Both bodies of a failed call, only as far as clients need to tell them apart: each tool has them, and the API documents their codes. */
const text = { type: 'string' };
const failures = [
  {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { code: text, message: text, remediation: text },
        required: ['code', 'message', 'remediation'],
      },
    },
    required: ['error'],
  },
  {
    type: 'object',
    properties: { detail: { type: 'array', items: { type: 'object' } } },
    required: ['detail'],
  },
];

const annotations: Record<Effect, ToolAnnotations> = {
  reads: { readOnlyHint: true, openWorldHint: false },
  probes: { readOnlyHint: true, openWorldHint: true },
  starts: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  changes: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  removes: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
};

function isReading({ effect }: EndpointDeclaration): boolean {
  return effect === 'reads' || effect === 'probes';
}

function schemaInToolTerms(schema: z.ZodType, direction: 'request' | 'response') {
  return textsInToolTerms(jsonSchema(schema, direction), ['description']);
}
