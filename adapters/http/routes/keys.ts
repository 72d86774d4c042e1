import { Hono } from 'hono';
import { createKey, listKeys, relabelKey, revokeKey, rotateKey } from '../../../core/operations/keys.ts';
import {
  presentKey,
  presentKeys,
  presentNewKey,
  presentRevocation,
  presentRotation,
} from '../../../core/operations/present-key.ts';
import {
  keyLabelSchema,
  keyListQuerySchema,
  keyPathSchema,
  keyRequestSchema,
  keyRevocationQuerySchema,
  keyRotationQuerySchema,
} from '../../../core/requests/keys.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { noStore } from '../no-store.ts';
import { valid } from '../valid.ts';

/** Keys of one's own caller, and with the scope `admin` of others (design section 11). */
export function keyRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>()
    .get('/keys', valid('query', keyListQuerySchema), async (context) => {
      return context.json(presentKeys(await listKeys(context.get('key'), context.req.valid('query'), c)));
    })
    .post('/keys', noStore(), valid('json', keyRequestSchema), async (context) =>
      context.json(presentNewKey(await createKey(context.get('key'), context.req.valid('json'), c))),
    )
    .patch('/keys/:key_id', valid('param', keyPathSchema), valid('json', keyLabelSchema), async (context) => {
      const { label } = context.req.valid('json');
      const { key_id: id } = context.req.valid('param');
      return context.json(presentKey(await relabelKey(context.get('key'), id, label, c)));
    })
    .delete(
      '/keys/:key_id',
      valid('param', keyPathSchema),
      valid('query', keyRevocationQuerySchema),
      async (context) => {
        const { key_id: id } = context.req.valid('param');
        const { descendants } = context.req.valid('query');
        return context.json(presentRevocation(await revokeKey(context.get('key'), id, descendants, c)));
      },
    )
    .post(
      '/keys/:key_id/rotate',
      noStore(),
      valid('param', keyPathSchema),
      valid('query', keyRotationQuerySchema),
      async (context) => {
        const { key_id: id } = context.req.valid('param');
        return context.json(
          presentRotation(await rotateKey(context.get('key'), id, context.req.valid('query'), c)),
        );
      },
    );
}
