import type { ApiKey, Scope } from '../records/key.ts';

/** Who asks for something about keys: the holder of one, or the operator at the machine. */
export type Actor = {
  /** Of the key in use; null for the operator. */
  hash: string | null;
  /** null: every caller's. */
  caller: string | null;
  /** Set while the key in use is good for its grace period only: it was replaced. */
  revoked_at: string | null;
  scopes: readonly Scope[];
};

/** Whoever can write the data directory may do everything. */
export const operator: Actor = {
  hash: null,
  caller: null,
  revoked_at: null,
  scopes: ['jobs', 'internal', 'admin'],
};

/** Keys of other callers are out of sight, except for an admin. */
export function maySee(actor: Actor, caller: string): boolean {
  return actor.caller === null || actor.caller === caller || isAdmin(actor);
}

/** No key grants more than it has. */
export function mayGrant(actor: Actor, scopes: readonly Scope[]): boolean {
  return scopes.every((scope) => actor.scopes.includes(scope));
}

/** A key that was replaced makes no other: one that leaked would outlive its replacement. */
export function mayCreate(actor: Actor): boolean {
  return actor.revoked_at === null;
}

/** A key changes those that have no more than it has: one that leaked locks nobody out who has more. */
export function mayChange(actor: Actor, key: ApiKey): boolean {
  return isAdmin(actor) || mayGrant(actor, key.scopes);
}

/** An admin key is revoked by another one, so that one is always left; any other key may end itself. */
export function mayRevoke(actor: Actor, key: ApiKey): boolean {
  return mayChange(actor, key) && !(key.hash === actor.hash && key.scopes.includes('admin'));
}

export function isAdmin(actor: Actor): boolean {
  return actor.scopes.includes('admin');
}
