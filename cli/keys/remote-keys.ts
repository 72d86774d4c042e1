import { Agent, request } from 'undici';
import { z } from 'zod';
import {
  keyListResponseSchema,
  keySchema,
  newKeySchema,
  revokedKeySchema,
  rotatedKeySchema,
} from '../../core/responses/access.ts';
import { CommandError } from '../command-error.ts';
import { listAllKeys } from './key-backend.ts';
import type { KeyBackend, KeyRecord } from './key-backend.ts';

/** Creates a backend for a service at a base URL, with the permissions of the given key. */
export function remoteKeys(baseUrl: string, key: string): KeyBackend {
  const dispatcher = new Agent({ headersTimeout: 30_000 });
  return {
    callers: listCallerNames,
    create: async ({ caller, scopes, label }) => {
      if (!(await listCallerNames()).includes(caller)) await ask('POST', '/callers', z.unknown(), { caller });
      return ask('POST', '/keys', newKeySchema, { caller, scopes, label });
    },
    list: listKeys,
    label: (id, label) => ask('PATCH', `/keys/${id}`, keySchema, { label }),
    revoke: (id, withDescendants) =>
      ask('DELETE', `/keys/${id}?descendants=${withDescendants}`, revokedKeySchema),
    rotate: (id, { grace_seconds: graceSeconds, descendants }) =>
      ask(
        'POST',
        `/keys/${id}/rotate?grace_seconds=${graceSeconds}&descendants=${descendants}`,
        rotatedKeySchema,
      ),
    close: () => dispatcher.close(),
  };

  /** Lists the callers of the keys that the given key may see. A caller without keys is not among them; only `admin` keys create one. */
  async function listCallerNames(): Promise<string[]> {
    return [...new Set((await listKeys()).map(({ caller }) => caller))];
  }

  function listKeys(caller?: string): Promise<KeyRecord[]> {
    return listAllKeys(async (after) => {
      const query = new URLSearchParams({
        limit: '1000',
        ...(caller !== undefined && { caller }),
        ...(after !== undefined && { after }),
      });
      return ask('GET', `/keys?${query.toString()}`, keyListResponseSchema);
    });
  }

  async function ask<Answer>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    schema: z.ZodType<Answer>,
    body?: object,
  ): Promise<Answer> {
    const response = await request(`${baseUrl.replace(/\/+$/, '')}${path}`, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new CommandError(
        `${baseUrl} cannot be reached`,
        'Use the base URL of the service, which ends in /api.',
        {
          cause,
        },
      );
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw refused(response.statusCode, text);
    return schema.parse(JSON.parse(text));
  }
}

const errorSchema = z.object({ error: z.object({ message: z.string(), remediation: z.string() }) });

function refused(status: number, text: string): CommandError {
  const read = errorSchema.safeParse(parsed(text));
  return read.success
    ? new CommandError(read.data.error.message, read.data.error.remediation)
    : new CommandError(
        `The service answered ${status}`,
        'Use the base URL of the service, which ends in /api.',
      );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
