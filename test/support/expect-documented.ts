import { expect } from 'vitest';
import { errorCodesOf } from '../../adapters/openapi/path-item.ts';
import { statusOf } from '../../adapters/openapi/examples/errors.ts';
import { operations } from '../../adapters/openapi/operations.ts';
import type { Operation } from '../../adapters/openapi/operation.ts';
import { errorEnvelopeSchema, validationErrorSchema } from '../../core/responses/errors.ts';

/**
 * Compares a response with the OpenAPI document: status, content type, all fields of the body, error code.
 * `path` is the requested path, with or without `/api` and query. Returns the body.
 */
export async function expectDocumented(method: string, path: string, response: Response): Promise<any> {
  const operation = operationAt(method, path);
  const context = `${operation.id} answered ${response.status}`;
  const type = response.headers.get('content-type') ?? '';
  if (response.status === 204) {
    expect(operation.answer, context).toMatchObject({ asEvents: { ends: expect.any(String) } });
    return undefined;
  }
  if (response.status === 200 && operation.answer.kind === 'jpeg') {
    expect(type, context).toBe('image/jpeg');
    return new Uint8Array(await response.arrayBuffer());
  }
  if (response.status === 200 && type.startsWith('text/event-stream')) {
    expect(operation.answer, context).toHaveProperty('asEvents');
    return response.body;
  }
  expect(type, context).toMatch(/^application\/json\b/);
  const body: any = await response.json();
  const schema = schemaOf(operation, response.status);
  // Zod removes undocumented fields, so that they show as a difference.
  expect(schema.parse(body), context).toEqual(body);
  if (schema === errorEnvelopeSchema) {
    expect(errorCodesOf(operation), context).toContain(body.error.code);
    expect(statusOf(body.error.code), context).toBe(response.status);
  }
  return body;
}

export function operationAt(method: string, path: string): Operation {
  const bare = path.replace(/\?.*$/, '').replace(/^\/api(?=\/)/, '');
  const found = operations.find(
    (operation) => operation.method === method.toLowerCase() && patternOf(operation).test(bare),
  );
  if (!found) throw new Error(`${method} ${path} is not documented`);
  return found;
}

function patternOf({ path }: Operation): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

function schemaOf({ answer }: Operation, status: number) {
  if (status === 422) return validationErrorSchema;
  if (status === 200 && answer.kind === 'json') return answer.schema;
  return errorEnvelopeSchema;
}
