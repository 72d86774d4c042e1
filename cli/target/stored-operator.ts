import { z } from 'zod';
import type { Watchpost } from '../../client/index.ts';
import { readUsage } from '../../core/access/caller-usage.ts';
import { addCaller, listCallers, presentCaller, eraseCaller } from '../../core/access/callers.ts';
import {
  operator,
  createKey,
  listKeys,
  presentKey,
  presentKeys,
  presentNewKey,
  presentRevocation,
  presentRotation,
  relabelKey,
  revokeKey,
  rotateKey,
  type KeyDeps,
} from '../../core/access/keys.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import type { UsageLedger } from '../../core/ports/usage.ts';
import {
  callerListQuerySchema,
  callerRequestSchema,
  keyListQuerySchema,
  keyRequestSchema,
  keyRotationQuerySchema,
} from '../../core/requests/keys.ts';
import { usageQuerySchema } from '../../core/requests/usage.ts';
import { CommandError } from '../command-error.ts';

/** Operations on keys and callers as the client has them, of any target. */
export type Operator = Pick<
  Watchpost,
  | 'listKeys'
  | 'createKey'
  | 'labelKey'
  | 'rotateKey'
  | 'revokeKey'
  | 'listCallers'
  | 'addCaller'
  | 'deleteCaller'
  | 'usage'
> & { close(): Promise<void> };

export type StoredOperatorDeps = KeyDeps & {
  usage: Pick<UsageLedger, 'days'>;
  /** Opens what an erasure removes from. Throws `CommandError` if it is out of reach. */
  openErasure: () => Promise<Pick<CoreDeps, 'eraser' | 'executions' | 'media'>>;
};

/** Creates an operator on stores. Access to them makes the user an operator with all permissions. */
export function storedOperator(deps: StoredOperatorDeps): Omit<Operator, 'close'> {
  return {
    listKeys: async (query) =>
      presentKeys(await listKeys(operator, read(keyListQuerySchema, { ...query }), deps)),
    createKey: async (request) =>
      presentNewKey(await createKey(operator, read(keyRequestSchema, request), deps)),
    labelKey: async (id, { label }) => presentKey(await relabelKey(operator, id, label, deps)),
    revokeKey: async (id, query) =>
      presentRevocation(await revokeKey(operator, id, query?.descendants ?? false, deps)),
    rotateKey: async (id, rotation) =>
      presentRotation(await rotateKey(operator, id, read(keyRotationQuerySchema, { ...rotation }), deps)),
    listCallers: async (query) => {
      const { after, limit } = read(callerListQuerySchema, { ...query });
      return listCallers(after, limit, deps);
    },
    addCaller: async (request) => presentCaller(await addCaller(read(callerRequestSchema, request), deps)),
    usage: async (query) =>
      readUsage(operator, read(usageQuerySchema, { ...query, all: query?.caller === undefined }), deps),
    deleteCaller: async (caller) =>
      eraseCaller(operator, caller, {
        ...(await deps.openErasure()),
        callers: deps.callers,
        recentLog: { entries: async () => [] },
        log: silent,
        now: deps.now,
      }),
  };
}

/** Reads what a command asks for, by the schema of the API. Throws `CommandError`. */
function read<Schema extends z.ZodType>(schema: Schema, asked: unknown): z.output<Schema> {
  const result = schema.safeParse(asked);
  if (result.success) return result.data;
  throw new CommandError(z.prettifyError(result.error), 'Correct the option or argument of that name.');
}

const ignore = () => undefined;
/** The command prints what was removed. */
const silent = { debug: ignore, info: ignore, warning: ignore, error: ignore };
