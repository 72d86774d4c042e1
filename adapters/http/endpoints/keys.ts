import {
  createKey,
  listKeys,
  relabelKey,
  revokeKey,
  rotateKey,
  presentKey,
  presentKeys,
  presentNewKey,
  presentRevocation,
  presentRotation,
} from '../../../core/access/keys.ts';
import {
  keyLabelSchema,
  keyListQuerySchema,
  keyPathSchema,
  keyRequestSchema,
  keyRevocationQuerySchema,
  keyRotationQuerySchema,
  callerPathSchema,
  callerListQuerySchema,
  callerRequestSchema,
} from '../../../core/requests/keys.ts';
import {
  keyListResponseSchema,
  keySchema,
  newKeySchema,
  signInCodeSchema,
  revokedKeySchema,
  rotatedKeySchema,
  erasureResponseSchema,
  callerListResponseSchema,
  callerResponseSchema,
} from '../../../core/responses/access.ts';
import * as examples from '../../openapi/examples/operations.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';
import { createSignInCode } from '../../../core/access/sign-in.ts';
import { eraseCaller, addCaller, listCallers, presentCaller } from '../../../core/access/callers.ts';

/**
 * Endpoints of API keys. A key with the scope `keys` manages keys of its caller that have no additional scopes; `admin`
 * manages all (`docs/operate/keys.md`).
 */

const shared = { tag: 'access', scope: 'keys' } as const;
const keyExample = { key_id: examples.key.key_id };

const ownKeyEndpoint = defineEndpoint(
  {
    id: 'own_key',
    tag: 'access',
    scope: 'any',
    method: 'get',
    path: '/me',
    title: 'Read the key in use',
    description: 'Returns the caller, the scopes and the label of the key of this request.',
    effect: 'reads',
    request: {},
    response: jsonResponse(keySchema, { description: 'The key' }),
    errors: [],
    examples: { response: { key: examples.key } },
  },
  async ({ key }) => presentKey(key),
);

const listKeysEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'list_keys',
    method: 'get',
    path: '/keys',
    title: 'List keys',
    description:
      "Returns one page of your caller's keys, oldest first, including keys revoked in the last 30 days. With the scope `admin`, returns keys of another caller.",
    effect: 'reads',
    request: { query: keyListQuerySchema },
    response: jsonResponse(keyListResponseSchema, { description: 'The keys' }),
    errors: [],
    examples: { response: { keys: { keys: [examples.key], next_after: null } } },
  },
  async ({ query, key }, deps) => presentKeys(await listKeys(key, query, deps)),
);

const createKeyEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'create_key',
    method: 'post',
    path: '/keys',
    title: 'Create a key',
    description:
      'Creates a key, which is shown only once. A key cannot grant scopes that it does not have, and a rotated key cannot create keys. The limit is 100 keys per hour and caller.',
    effect: 'starts',
    request: { body: keyRequestSchema },
    response: jsonResponse(newKeySchema, { description: 'The key', secret: true }),
    errors: ['BAD_REQUEST', 'NOT_FOUND', 'RATE_LIMITED'],
    examples: {
      body: { key: { scopes: ['jobs'], label: 'lock control room' } },
      response: { key: examples.newKey },
    },
  },
  async ({ body, key }, deps) => presentNewKey(await createKey(key, body, deps)),
);

const relabelKeyEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'relabel_key',
    method: 'patch',
    path: '/keys/{key_id}',
    title: 'Rename a key',
    description: 'Changes its label, for people.',
    effect: 'changes',
    idempotent: true,
    request: { parameters: keyPathSchema, body: keyLabelSchema },
    response: jsonResponse(keySchema, { description: 'The key' }),
    errors: ['NOT_FOUND'],
    examples: {
      parameters: keyExample,
      body: { label: { label: 'lock control room' } },
      response: { key: examples.key },
    },
  },
  async ({ parameters, body, key }, deps) =>
    presentKey(await relabelKey(key, parameters.key_id, body.label, deps)),
);

const revokeKeyEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'revoke_key',
    method: 'delete',
    path: '/keys/{key_id}',
    title: 'Revoke a key',
    description:
      'Revokes a key, everywhere within a minute. With `descendants`, revokes every key that it created directly or indirectly.',
    effect: 'removes',
    idempotent: true,
    request: { parameters: keyPathSchema, query: keyRevocationQuerySchema },
    response: jsonResponse(revokedKeySchema, { description: 'The key' }),
    errors: ['NOT_FOUND'],
    examples: { parameters: keyExample, response: { revoked: examples.revokedKey } },
  },
  async ({ parameters, query, key }, deps) =>
    presentRevocation(await revokeKey(key, parameters.key_id, query.descendants, deps)),
);

const signInCodeEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'create_sign_in_code',
    method: 'post',
    path: '/keys/{key_id}/sign-in-code',
    title: 'Create a code that signs a browser in',
    description:
      'Creates a code for a key that was never used, with which the console of one device signs in, once and within 5 minutes. The device never gets the text of the key.',
    effect: 'changes',
    withoutTool: true,
    request: { parameters: keyPathSchema },
    response: jsonResponse(signInCodeSchema, { description: 'The code', secret: true }),
    errors: ['BAD_REQUEST', 'NOT_FOUND'],
    examples: { parameters: keyExample, response: { code: examples.signInCode } },
  },
  async ({ parameters, key }, deps) =>
    createSignInCode(key, parameters.key_id, { ...deps, signer: deps.evidenceLinks.signer }),
);

const rotateKeyEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'rotate_key',
    method: 'post',
    path: '/keys/{key_id}/rotate',
    title: 'Replace a key',
    description:
      'Creates a successor with the same scopes and label. The old key stays valid for `grace_seconds` and cannot create keys in that time. With `descendants`, every key that it created ends with it.',
    effect: 'removes',
    request: { parameters: keyPathSchema, query: keyRotationQuerySchema },
    response: jsonResponse(rotatedKeySchema, { description: 'The new key, and the old one', secret: true }),
    errors: ['BAD_REQUEST', 'NOT_FOUND', 'RATE_LIMITED'],
    examples: { parameters: keyExample, response: { rotated: examples.rotatedKey } },
  },
  async ({ parameters, query, key }, deps) =>
    presentRotation(await rotateKey(key, parameters.key_id, query, deps)),
);

export const keyEndpoints = [
  ownKeyEndpoint,
  listKeysEndpoint,
  createKeyEndpoint,
  relabelKeyEndpoint,
  revokeKeyEndpoint,
  rotateKeyEndpoint,
  signInCodeEndpoint,
];

const eraseCallerEndpoint = defineEndpoint(
  {
    id: 'delete_caller',
    tag: 'access',
    scope: 'admin',
    method: 'delete',
    path: '/callers/{caller}',
    title: 'Erase a caller',
    description:
      'Removes a caller with everything that is stored for it: keys, jobs, watches, frames and clips, events, alerts, deliveries and usage. Running jobs end without a further event. Repeat the call until `complete` is true. A key cannot erase its own caller.',
    effect: 'removes',
    idempotent: true,
    timeBudgetSeconds: 29,
    request: { parameters: callerPathSchema },
    response: jsonResponse(erasureResponseSchema, { description: 'Counts of removed records' }),
    errors: ['NOT_FOUND'],
    examples: { parameters: { caller: 'mooring' }, response: { erased: examples.erasure } },
  },
  ({ parameters: { caller }, key }, deps) => eraseCaller(key, caller, deps),
);

export const erasureEndpoints = [eraseCallerEndpoint];

/** Endpoints of callers, the tenants of the service. */

const ofCallers = { path: '/callers', tag: 'access', scope: 'admin' } as const;

const listCallersEndpoint = defineEndpoint(
  {
    ...ofCallers,
    id: 'list_callers',
    method: 'get',
    title: 'List callers',
    description: 'Returns the tenants of this service, ordered by name.',
    effect: 'reads',
    request: { query: callerListQuerySchema },
    response: jsonResponse(callerListResponseSchema, { description: 'One page of callers' }),
    errors: [],
    examples: { response: { callers: { callers: [examples.caller], next_after: null } } },
  },
  ({ query: { after, limit } }, deps) => listCallers(after, limit, deps),
);

const addCallerEndpoint = defineEndpoint(
  {
    ...ofCallers,
    id: 'add_caller',
    method: 'post',
    title: 'Add a caller',
    description:
      'Creates a tenant with its own jobs, keys and webhook secret. A repeated request changes nothing.',
    effect: 'changes',
    idempotent: true,
    request: { body: callerRequestSchema },
    response: jsonResponse(callerResponseSchema, { description: 'The caller' }),
    errors: [],
    examples: {
      body: { caller: { caller: 'harbour', label: 'The harbour office' } },
      response: { caller: examples.caller },
    },
  },
  async ({ body }, deps) => presentCaller(await addCaller(body, deps)),
);

export const callerEndpoints = [listCallersEndpoint, addCallerEndpoint];
