import type { Tool, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { jsonSchema } from '../openapi/json-schema.ts';
import type { Effect, EndpointDeclaration } from '../http/endpoint.ts';
import { argumentFields } from './arguments.ts';
import { textsInToolTerms, toolDescription } from './tool-terms.ts';

/**
 * Returns an endpoint as an MCP tool. It has no schema of its structured content, which the protocol does not require: those of all tools would be eight times
 * as long as the rest, and clients may load all into the context of a model.
 */
export function toTool(endpoint: EndpointDeclaration): Tool {
  return {
    name: endpoint.id,
    title: endpoint.title,
    description: toolDescription(endpoint),
    inputSchema: {
      ...textsInToolTerms(jsonSchema(z.object(argumentFields(endpoint)), 'request'), ['description']),
      type: 'object',
      additionalProperties: false,
    },
    annotations: {
      ...annotations[endpoint.effect],
      idempotentHint: endpoint.idempotent ?? isReading(endpoint),
    },
  };
}

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
