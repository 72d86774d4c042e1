import { mintKey } from '../api-key.ts';
import type { KeyPrimitives } from '../api-key.ts';
import type { Collaborators } from '../collaborators.ts';
import { addSeconds } from '../decision/schedule.ts';
import { ForbiddenError, WatchpostError } from '../errors.ts';
import type { ApiKey } from '../key.ts';
import { isRevoked } from '../key.ts';
import { mayChange, mayGrant, mayRevoke, maySee } from '../key-rights.ts';
import type { Actor } from '../key-rights.ts';
import type { KeyStore } from '../ports/key-store.ts';
import type { KeyRequest } from '../requests/keys.ts';

/** What keys are managed with, by the endpoints and by the command line. A key's id is its SHA-256, which opens nothing. */
export type KeyNeeds = Pick<Collaborators, 'callers' | 'now'> & KeyPrimitives & { keys: KeyStore };

/** The text is all there ever is of it: only its hash is stored. */
export type CreatedKey = { text: string; key: ApiKey };

/** More than a caller has use for; a key that leaked cannot make thousands. */
const keysPerCaller = 100;

/** Oldest first, revoked ones too. Throws `ForbiddenError` for the keys of another caller. */
export async function listKeys(actor: Actor, caller: string | undefined, c: KeyNeeds): Promise<ApiKey[]> {
  if (caller !== undefined && !maySee(actor, caller)) throw needsAdmin();
  return c.keys.list(caller ?? actor.caller ?? undefined);
}

/** Throws `ForbiddenError` for another caller or for more scopes than the actor has, and `NOT_FOUND` for a caller that is none. */
export async function createKey(actor: Actor, wish: KeyRequest, c: KeyNeeds): Promise<CreatedKey> {
  const caller = wish.caller ?? actor.caller;
  if (caller === null) throw noSuchCaller();
  if (!maySee(actor, caller)) throw needsAdmin();
  if (!mayGrant(actor, wish.scopes)) throw grantsTooMuch();
  if (caller !== actor.caller && !(await c.callers.find(caller))) throw noSuchCaller();
  return mint({ ...wish, caller }, c);
}

export async function relabelKey(
  actor: Actor,
  id: string,
  label: string | null,
  c: KeyNeeds,
): Promise<ApiKey> {
  const key = await visibleKey(actor, id, c);
  if (!mayChange(actor, key)) throw hasMore();
  await c.keys.relabel(key.hash, label);
  return { ...key, label };
}

/** Holds at once. Harmless where the key was revoked before; one that a rotation left a while is ended now. */
export async function revokeKey(actor: Actor, id: string, c: KeyNeeds): Promise<ApiKey> {
  const key = await visibleKey(actor, id, c);
  if (!mayChange(actor, key)) throw hasMore();
  if (!mayRevoke(actor, key)) throw revokesItself();
  await c.keys.revoke(key.hash, c.now());
  return (await c.keys.find(key.hash)) ?? key;
}

/** A successor with the same caller, scopes and label; the old key stays good for the grace period. */
export async function rotateKey(
  actor: Actor,
  id: string,
  graceSeconds: number,
  c: KeyNeeds,
): Promise<CreatedKey & { old: ApiKey }> {
  const old = await visibleKey(actor, id, c);
  if (!mayGrant(actor, old.scopes)) throw grantsTooMuch();
  if (isRevoked(old, c.now())) throw isOver();
  const created = await mint(old, c);
  await c.keys.revoke(old.hash, addSeconds(c.now(), graceSeconds));
  return { ...created, old: (await c.keys.find(old.hash)) ?? old };
}

async function mint(wanted: Pick<ApiKey, 'caller' | 'scopes' | 'label'>, c: KeyNeeds): Promise<CreatedKey> {
  const { caller, label } = wanted;
  const now = c.now();
  const good = (await c.keys.list(caller)).filter((key) => !isRevoked(key, now));
  if (good.length >= keysPerCaller) throw tooMany();
  const created = mintKey({ caller, label, scopes: [...new Set(wanted.scopes)] }, now, c);
  await c.keys.put(created.key);
  return created;
}

/** Keys of others are absent to who may not see them. */
async function visibleKey(actor: Actor, id: string, c: KeyNeeds): Promise<ApiKey> {
  const key = await c.keys.find(id);
  if (key && maySee(actor, key.caller)) return key;
  throw new WatchpostError('NOT_FOUND', 'Key not found', 'Take its id from GET /keys.');
}

function needsAdmin(): ForbiddenError {
  return new ForbiddenError('Use a key with the scope "admin", or leave caller out for your own keys.');
}

function grantsTooMuch(): ForbiddenError {
  return new ForbiddenError('A key cannot grant scopes that it does not have: use one that has them.');
}

function hasMore(): ForbiddenError {
  return new ForbiddenError('That key has scopes that this one does not have: use one that has them.');
}

function revokesItself(): ForbiddenError {
  return new ForbiddenError('An admin key is revoked with another admin key: make one first, or rotate it.');
}

function isOver(): WatchpostError {
  return new WatchpostError('BAD_REQUEST', 'Key is revoked', 'Make a new key with POST /keys.');
}

function tooMany(): WatchpostError {
  return new WatchpostError(
    'BAD_REQUEST',
    `The caller has ${keysPerCaller} keys`,
    'Revoke keys that are no longer used: see last_used_at in GET /keys.',
  );
}

function noSuchCaller(): WatchpostError {
  return new WatchpostError('NOT_FOUND', 'No such caller', 'Make it first, with POST /callers.');
}
