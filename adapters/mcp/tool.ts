import type { Tool, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { errorEnvelopeSchema, validationErrorSchema } from '../../core/responses/errors.ts';
import { jsonSchema } from '../openapi/json-schema.ts';
import type { Answer, Effect, ObjectSchema, Operation } from '../openapi/operation.ts';
import { argumentName } from './arguments.ts';

/** An operation as an MCP tool: its name, and the schemas of its arguments and of its structured content. */
export function toolOf(operation: Operation): Tool {
  return {
    name: operation.id,
    title: operation.title,
    description: operation.description,
    inputSchema: { ...jsonSchema(argumentsSchema(operation), 'request'), type: 'object' },
    ...outputSchema(operation.answer),
    annotations: annotations[operation.effect],
  };
}

/** Path, query, header and body in one object: their names do not collide (a test holds that). */
function argumentsSchema({ parameters, query, headers, body }: Operation): ObjectSchema {
  const fields = { ...parameters?.shape, ...query?.shape, ...body?.shape };
  for (const [name, field] of Object.entries(headers?.shape ?? {})) fields[argumentName(name)] = field;
  return z.object(fields);
}

/**
 * What the API answers, or one of its two error bodies: clients hold the structured content of a failed call against the same
 * schema. A picture becomes an image block and is left out.
 */
function outputSchema(answer: Answer): Pick<Tool, 'outputSchema'> {
  if (answer.kind === 'jpeg') return {};
  const schema = answer.picture ? answer.schema.omit({ [answer.picture]: true }) : answer.schema;
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
