import { mintKey } from './api-key.ts';
import type { KeyCrypto } from './api-key.ts';
import type { CoreDeps } from '../dependencies.ts';
import { addSeconds } from '../schedule.ts';
import { ForbiddenError, RateLimitedError, WatchpostError } from '../errors.ts';
import type { ApiKey } from '../records/key.ts';
import { isRevoked } from '../records/key.ts';
import { mayChange, mayCreate, mayGrant, mayRevoke, maySee } from './key-rights.ts';
import type { Actor } from './key-rights.ts';
import type { KeyPosition, KeyStore } from '../ports/key-store.ts';
import { readKeyPosition } from '../requests/keys.ts';
import { secondsUntil } from '../time.ts';
import type { KeyListQuery, KeyRequest, KeyRotation } from '../requests/keys.ts';

/** What keys are managed with, by the endpoints and by the command line. A key's id is its SHA-256, which opens nothing. */
export type KeyDeps = Pick<CoreDeps, 'callers' | 'now'> & KeyCrypto & { keys: KeyStore };

/** The text is all there ever is of it: only its hash is stored. */
export type CreatedKey = { text: string; key: ApiKey };

/** More than a caller has use for; a key that leaked cannot make thousands. */
const maxKeysPerCaller = 100;
const maxKeysPerHour = 100;

/** A page of keys, and where the next one begins. */
export type ListedKeys = { keys: ApiKey[]; next: KeyPosition | null };

/** Oldest first, revoked ones too. Throws `ForbiddenError` for the keys of another caller. */
export async function listKeys(actor: Actor, query: KeyListQuery, deps: KeyDeps): Promise<ListedKeys> {
  const { caller = actor.caller ?? undefined, after, limit } = query;
  if (caller !== undefined && !maySee(actor, caller)) throw needsAdmin();
  const found = await deps.keys.list({ caller, after: readKeyPosition(after), limit: limit + 1 });
  const keys = found.slice(0, limit);
  return { keys, next: found.length > limit ? (keys.at(-1) ?? null) : null };
}

/** Throws `ForbiddenError` for another caller or for more scopes than the actor has, and `NOT_FOUND` for a caller that is none. */
export async function createKey(actor: Actor, wish: KeyRequest, deps: KeyDeps): Promise<CreatedKey> {
  const caller = wish.caller ?? actor.caller;
  if (caller === null) throw noSuchCaller();
  if (!maySee(actor, caller)) throw needsAdmin();
  if (!mayGrant(actor, wish.scopes)) throw grantsTooMuch();
  if (caller !== actor.caller && !(await deps.callers.find(caller))) throw noSuchCaller();
  return mint(actor, { ...wish, caller }, deps);
}

export async function relabelKey(
  actor: Actor,
  id: string,
  label: string | null,
  deps: KeyDeps,
): Promise<ApiKey> {
  const key = await visibleKey(actor, id, deps);
  if (!mayChange(actor, key)) throw hasMore();
  await deps.keys.relabel(key.hash, label);
  return { ...key, label };
}

/** What was revoked; `descendants` are the keys that ended with it, where that was asked for. */
export type Revocation = { key: ApiKey; descendants?: ApiKey[] | undefined };

/** Holds at once. Harmless where the key was revoked before; one that a rotation left a while is ended now. */
export async function revokeKey(
  actor: Actor,
  id: string,
  withDescendants: boolean,
  deps: KeyDeps,
): Promise<Revocation> {
  const key = await visibleKey(actor, id, deps);
  if (!mayChange(actor, key)) throw hasMore();
  if (!mayRevoke(actor, key)) throw revokesItself();
  return revokeAt(deps.now(), actor, key, withDescendants, deps);
}

export type Rotation = CreatedKey & { old: ApiKey; descendants?: ApiKey[] | undefined };

/** A successor with the same caller, scopes and label; the old key stays good for the grace period, and what it made where that ends too. */
export async function rotateKey(
  actor: Actor,
  id: string,
  rotation: KeyRotation,
  deps: KeyDeps,
): Promise<Rotation> {
  const old = await visibleKey(actor, id, deps);
  if (!mayGrant(actor, old.scopes)) throw grantsTooMuch();
  if (isRevoked(old, deps.now())) throw isOver();
  const created = await mint(actor, old, deps);
  const endsAt = addSeconds(deps.now(), rotation.grace_seconds);
  const { key, descendants } = await revokeAt(endsAt, actor, old, rotation.descendants, deps, created.key);
  return { ...created, old: key, descendants };
}

/** A key first and then what it made: once it is revoked it makes no more, so that none is missed. */
async function revokeAt(
  at: Date,
  actor: Actor,
  key: ApiKey,
  withDescendants: boolean,
  { keys }: KeyDeps,
  successor?: ApiKey,
): Promise<Revocation> {
  await keys.revoke(key.hash, at);
  const revoked = (await keys.find(key.hash)) ?? key;
  if (!withDescendants) return { key: revoked };
  const descendants: ApiKey[] = [];
  const makers = [key.hash];
  for (let maker = makers.pop(); maker !== undefined; maker = makers.pop()) {
    for (const made of await keys.listMadeBy(maker)) {
      if (made.hash === successor?.hash) continue;
      if (!isRevoked(made, at) && mayRevoke(actor, made)) {
        await keys.revoke(made.hash, at);
        descendants.push({ ...made, revoked_at: at.toISOString() });
      }
      makers.push(made.hash);
    }
  }
  return { key: revoked, descendants };
}

async function mint(
  actor: Actor,
  wanted: Pick<ApiKey, 'caller' | 'scopes' | 'label'>,
  deps: KeyDeps,
): Promise<CreatedKey> {
  if (!mayCreate(actor)) throw keyReplacedError();
  const { caller, label, scopes } = wanted;
  const now = deps.now();
  if (actor.caller !== null) await refuseTooMany(caller, now, deps);
  const created = mintKey({ caller, label, scopes: [...new Set(scopes)], created_by: actor.hash }, now, deps);
  const outcome = await deps.keys.create(created.key, maxKeysPerCaller);
  if (outcome === 'full') throw tooMany();
  if (outcome === 'maker_revoked') throw keyReplacedError();
  return created;
}

/** Revoked keys are kept for a month: without this a key that leaked fills the store with them. The operator at the machine is not asked. */
async function refuseTooMany(caller: string, now: Date, { keys }: KeyDeps): Promise<void> {
  const oldest = await keys.creationTime(caller, maxKeysPerHour - 1);
  if (oldest === undefined) return;
  const waitSeconds = Math.ceil(secondsUntil(addSeconds(oldest, 3600), now, 3600));
  if (waitSeconds > 0)
    throw new RateLimitedError(
      `A caller may make ${maxKeysPerHour} keys an hour: try again in ${waitSeconds} s. Revoking a key is always possible.`,
      waitSeconds,
    );
}

/** Keys of others are absent to who may not see them. */
async function visibleKey(actor: Actor, id: string, deps: KeyDeps): Promise<ApiKey> {
  const key = await deps.keys.find(id);
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

function keyReplacedError(): ForbiddenError {
  return new ForbiddenError('This key was replaced and makes no others: use its successor.');
}

function tooMany(): WatchpostError {
  return new WatchpostError(
    'BAD_REQUEST',
    `The caller has ${maxKeysPerCaller} keys`,
    'Revoke keys that are no longer used: see last_used_at in GET /keys.',
  );
}

function noSuchCaller(): WatchpostError {
  return new WatchpostError('NOT_FOUND', 'No such caller', 'Make it first, with POST /callers.');
}
