import { expect } from 'vitest';
import { endpointErrorCodes, type Endpoint } from '../../../adapters/http/endpoint.ts';
import { endpoints } from '../../../adapters/http/endpoints/endpoints.ts';
import { errorStatus } from '../../../adapters/openapi/error-examples.ts';
import { errorEnvelopeSchema, validationErrorSchema } from '../../../core/responses/errors.ts';

/**
 * Compares a response with the OpenAPI document: status, content type, all fields of the body, error code.
 * `path` is the requested path, with or without `/api` and query. Returns the body.
 */
export async function expectDocumented(method: string, path: string, response: Response): Promise<any> {
  const endpoint = endpointAt(method, path);
  const context = `${endpoint.id} responded with ${response.status}`;
  const type = response.headers.get('content-type') ?? '';
  if (response.status === 204) {
    expect(endpoint.response, context).toMatchObject({ asEvents: { ends: expect.any(String) } });
    return undefined;
  }
  if (response.status === 200 && endpoint.response.kind === 'jpeg') {
    expect(type, context).toBe('image/jpeg');
    return new Uint8Array(await response.arrayBuffer());
  }
  if (response.status === 200 && endpoint.response.kind === 'mp4') {
    expect(type, context).toBe('video/mp4');
    return new Uint8Array(await response.arrayBuffer());
  }
  if (response.status === 200 && endpoint.response.kind === 'text') {
    expect(type, context).toBe(endpoint.response.contentType);
    return response.text();
  }
  if (response.status === 200 && type.startsWith('text/event-stream')) {
    expect(endpoint.response, context).toHaveProperty('asEvents');
    return response.body;
  }
  expect(type, context).toMatch(/^application\/json\b/);
  const body: any = await response.json();
  const schema = findSchema(endpoint, response.status);
  // Zod removes undocumented fields, so that they show as a difference.
  expect(schema.parse(body), context).toEqual(body);
  if (schema === errorEnvelopeSchema) {
    expect(endpointErrorCodes(endpoint), context).toContain(body.error.code);
    expect(errorStatus(body.error.code), context).toBe(response.status);
  }
  return body;
}

export function endpointAt(method: string, path: string): Endpoint {
  const bare = path.replace(/\?.*$/, '').replace(/^\/api(?=\/)/, '');
  const found = endpoints.find(
    (endpoint) => endpoint.method === method.toLowerCase() && toPattern(endpoint).test(bare),
  );
  if (!found) throw new Error(`${method} ${path} is not documented`);
  return found;
}

function toPattern({ path }: Endpoint): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

function findSchema({ response }: Endpoint, status: number) {
  if (status === 422) return validationErrorSchema;
  if (status === 200 && response.kind === 'json') return response.schema;
  return errorEnvelopeSchema;
}
