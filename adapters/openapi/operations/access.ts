import {
  callerListQuerySchema,
  callerRequestSchema,
  keyLabelSchema,
  keyListQuerySchema,
  keyPathSchema,
  keyRequestSchema,
  keyRevocationQuerySchema,
  keyRotationQuerySchema,
} from '../../../core/requests/keys.ts';
import * as answers from '../../../core/responses/access.ts';
import * as examples from '../examples/access.ts';
import type { Operation } from '../operation.ts';

const ofKey = {
  tag: 'access',
  parameters: keyPathSchema,
} as const;
const byId = { key_id: examples.key.key_id };

/** Any key may manage those of its caller that have no more than it has; `admin` manages all. */
export const accessOperations: Operation[] = [
  {
    id: 'list_keys',
    method: 'get',
    path: '/keys',
    tag: 'access',
    title: 'List keys',
    description:
      "Your caller's keys, revoked ones too for 30 days; with the scope `admin` those of another caller. One page, oldest first.",
    effect: 'reads',
    query: keyListQuerySchema,
    answer: { kind: 'json', description: 'The keys', schema: answers.keyListResponseSchema },
    errors: [],
    examples: { answer: { keys: { keys: [examples.key], next_after: null } } },
  },
  {
    id: 'create_key',
    method: 'post',
    path: '/keys',
    tag: 'access',
    title: 'Make a key',
    description:
      'It is shown this once. No key grants scopes that it does not have, and one that was replaced makes no other. A caller may make 100 an hour.',
    effect: 'starts',
    body: keyRequestSchema,
    answer: { kind: 'json', description: 'The key', schema: answers.newKeySchema },
    errors: ['BAD_REQUEST', 'NOT_FOUND', 'RATE_LIMITED'],
    examples: {
      body: { key: { scopes: ['jobs'], label: 'lock control room' } },
      answer: { key: examples.newKey },
    },
  },
  {
    ...ofKey,
    id: 'relabel_key',
    method: 'patch',
    path: '/keys/{key_id}',
    title: 'Rename a key',
    description: 'Changes its label, for people.',
    effect: 'changes',
    body: keyLabelSchema,
    answer: { kind: 'json', description: 'The key', schema: answers.keySchema },
    errors: ['NOT_FOUND'],
    examples: {
      parameters: byId,
      body: { label: { label: 'lock control room' } },
      answer: { key: examples.key },
    },
  },
  {
    ...ofKey,
    id: 'revoke_key',
    method: 'delete',
    path: '/keys/{key_id}',
    title: 'Revoke a key',
    description:
      'It is refused from now on, everywhere within a minute; with `descendants` so is every key that it made, and that those made.',
    effect: 'removes',
    query: keyRevocationQuerySchema,
    answer: { kind: 'json', description: 'The key', schema: answers.revokedKeySchema },
    errors: ['NOT_FOUND'],
    examples: { parameters: byId, answer: { revoked: examples.revokedKey } },
  },
  {
    ...ofKey,
    id: 'rotate_key',
    method: 'post',
    path: '/keys/{key_id}/rotate',
    title: 'Replace a key',
    description:
      'A successor with the same scopes and label; the old key stays good for `grace_seconds`, and makes no other meanwhile. With `descendants` every key that it made ends with it.',
    effect: 'removes',
    query: keyRotationQuerySchema,
    answer: { kind: 'json', description: 'The new key, and the old one', schema: answers.rotatedKeySchema },
    errors: ['BAD_REQUEST', 'NOT_FOUND', 'RATE_LIMITED'],
    examples: { parameters: byId, answer: { rotated: examples.rotatedKey } },
  },
  {
    id: 'list_callers',
    method: 'get',
    path: '/callers',
    tag: 'access',
    title: 'List callers',
    description: 'The tenants of this service, by name.',
    scope: 'admin',
    effect: 'reads',
    query: callerListQuerySchema,
    answer: { kind: 'json', description: 'One page of callers', schema: answers.callerListResponseSchema },
    errors: [],
    examples: { answer: { callers: { callers: [examples.caller], next_after: null } } },
  },
  {
    id: 'add_caller',
    method: 'post',
    path: '/callers',
    tag: 'access',
    title: 'Add a caller',
    description: 'A tenant with its own jobs, keys and webhook secret. Repeating it changes nothing.',
    scope: 'admin',
    effect: 'changes',
    body: callerRequestSchema,
    answer: { kind: 'json', description: 'The caller', schema: answers.callerResponseSchema },
    errors: [],
    examples: {
      body: { caller: { caller: 'harbour', label: 'The harbour office' } },
      answer: { caller: examples.caller },
    },
  },
];
