import { Agent, request } from 'undici';
import { z } from 'zod';
import { CommandError } from '../command-error.ts';

/** Requests of a command to the API of a service. */
export type ServiceRequests = {
  /** Returns the response of status 200. Throws `CommandError` for any other, with the remediation of the service. */
  ask<Answer>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    schema: z.ZodType<Answer>,
    body?: object,
  ): Promise<Answer>;
  close(): Promise<void>;
};

/** Creates requests to a service at a base URL with the permissions of the key. */
export function createServiceRequests(baseUrl: string, key: string): ServiceRequests {
  const dispatcher = new Agent({ headersTimeout: 30_000 });
  return {
    close: () => dispatcher.close(),
    ask: async (method, path, schema, body) => {
      const response = await request(`${baseUrl.replace(/(?<!\/)\/+$/, '')}${path}`, {
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
          { cause },
        );
      });
      const text = await response.body.text();
      if (response.statusCode !== 200) throw refused(response.statusCode, text);
      return schema.parse(JSON.parse(text));
    },
  };
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
