import { Hono } from 'hono';
import { createKey, listKeys, relabelKey, revokeKey, rotateKey } from '../../../core/operations/keys.ts';
import { presentKey, presentNewKey } from '../../../core/operations/present-key.ts';
import {
  keyLabelSchema,
  keyListQuerySchema,
  keyPathSchema,
  keyRequestSchema,
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
      const keys = await listKeys(context.get('key'), context.req.valid('query').caller, c);
      return context.json({ keys: keys.map(presentKey) });
    })
    .post('/keys', noStore(), valid('json', keyRequestSchema), async (context) =>
      context.json(presentNewKey(await createKey(context.get('key'), context.req.valid('json'), c))),
    )
    .patch('/keys/:key_id', valid('param', keyPathSchema), valid('json', keyLabelSchema), async (context) => {
      const { label } = context.req.valid('json');
      const { key_id: id } = context.req.valid('param');
      return context.json(presentKey(await relabelKey(context.get('key'), id, label, c)));
    })
    .delete('/keys/:key_id', valid('param', keyPathSchema), async (context) =>
      context.json(presentKey(await revokeKey(context.get('key'), context.req.valid('param').key_id, c))),
    )
    .post(
      '/keys/:key_id/rotate',
      noStore(),
      valid('param', keyPathSchema),
      valid('query', keyRotationQuerySchema),
      async (context) => {
        const { grace_seconds: graceSeconds } = context.req.valid('query');
        const { key_id: id } = context.req.valid('param');
        const { old, ...created } = await rotateKey(context.get('key'), id, graceSeconds, c);
        return context.json({ ...presentNewKey(created), replaces: presentKey(old) });
      },
    );
}
