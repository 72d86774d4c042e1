import { createHash } from 'node:crypto';
import type { CreateAlertId } from '../core/policies/watch/condition-steps.ts';

/** Returns the UUIDv5 (RFC 9562) of condition and opening in the namespace of the watch. */
export const createAlertId: CreateAlertId = (watchId, conditionId, opening) => {
  const namespace = Buffer.from(watchId.replaceAll('-', ''), 'hex');
  const digest = createHash('sha1').update(namespace).update(`${conditionId}/${opening}`).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
