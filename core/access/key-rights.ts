import { hasScope, scopeSchema, type ApiKey, type Scope } from '../records/key.ts';

/** Requester of a key operation: the holder of a key, or the operator at the command line. */
export type Actor = {
  /** Hash of the key in use; `null` for the operator. */
  hash: string | null;
  /** Caller of the key in use; `null` for the operator, who may see all callers. */
  caller: string | null;
  /** End of the grace period if the key in use was replaced; otherwise `null`. */
  revoked_at: string | null;
  scopes: readonly Scope[];
};

/** Actor of the command line: write access to the data folder allows everything. */
export const operator: Actor = {
  hash: null,
  caller: null,
  revoked_at: null,
  scopes: scopeSchema.options,
};

/** Returns true if the actor may see keys of the caller: its own, or any for an admin. */
export function maySee(actor: Actor, caller: string): boolean {
  return actor.caller === null || actor.caller === caller || isAdmin(actor);
}

export function mayGrant(actor: Actor, scopes: readonly Scope[]): boolean {
  return scopes.every((scope) => hasScope(actor.scopes, scope));
}

/** Returns true unless the key in use was replaced: otherwise a leaked key could outlive its replacement. */
export function mayCreate(actor: Actor): boolean {
  return actor.revoked_at === null;
}

/** Returns true if the actor has all scopes of the key: otherwise a leaked key could lock out keys with more scopes. */
export function mayChange(actor: Actor, key: ApiKey): boolean {
  return isAdmin(actor) || mayGrant(actor, key.scopes);
}

/**
 * Returns true if the actor may revoke the key. An admin key cannot revoke itself, so that one admin key always
 * remains.
 */
export function mayRevoke(actor: Actor, key: ApiKey): boolean {
  return mayChange(actor, key) && !(key.hash === actor.hash && key.scopes.includes('admin'));
}

/** Returns true if the actor has the scope `admin`. */
export function isAdmin(actor: Actor): boolean {
  return actor.scopes.includes('admin');
}
