import { createWebhookSigner } from '../../../adapters/signers.ts';
import { localDay } from '../../../core/policies/watch/schedule.ts';

/**
 * Entry that is bundled like a function and run separately: prints results of libraries that are loaded at their first
 * use.
 */

const at = new Date('2026-03-29T12:00:00Z');
const signer = createWebhookSigner({ masterSecret: new Uint8Array(32) });
const day = localDay('Europe/Berlin', at);
const signature = await signer.sign('harbour', 'msg_1', at, '{}');
process.stdout.write(JSON.stringify({ day, signature }));
