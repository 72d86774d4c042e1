import { mintKey, type KeyCrypto } from './api-key.ts';
import type { CoreDeps } from '../dependencies.ts';
import { addSeconds, secondsUntil } from '../time.ts';
import { ForbiddenError, RateLimitedError, WatchpostError } from '../errors.ts';
import { isRevoked, type ApiKey, hasScope, scopeSchema, type Scope } from '../records/key.ts';
import type { KeyPosition, KeyStore } from '../ports/callers.ts';
import { readKeyPosition, type KeyListQuery, type KeyRequest, type KeyRotation } from '../requests/keys.ts';

/** Dependencies of key management by API and command line. The id of a key is its SHA-256, which grants no access. */
export type KeyDeps = Pick<CoreDeps, 'callers' | 'now'> & KeyCrypto & { keys: KeyStore };

/** New key. `text` exists only here, because only its hash is stored. */
export type CreatedKey = { text: string; key: ApiKey };

/** Limits of valid keys and of new keys per caller, so that a leaked key cannot create thousands. */
const maxKeysPerCaller = 100;
const maxKeysPerHour = 100;

/** Page of keys; `next` is the position of the last key, `null` on the last page. */
export type ListedKeys = { keys: ApiKey[]; next: KeyPosition | null };

/**
 * Lists keys, oldest first, including revoked ones. Throws `ForbiddenError` for another caller's keys without the scope
 * `admin`.
 */
export async function listKeys(actor: Actor, query: KeyListQuery, deps: KeyDeps): Promise<ListedKeys> {
  const { caller = actor.caller ?? undefined, after, limit } = query;
  if (caller !== undefined && !maySee(actor, caller)) throw adminScopeRequiredError();
  const page = await deps.keys.list({ caller, after: readKeyPosition(after), limit: limit + 1 });
  const keys = page.slice(0, limit);
  return { keys, next: page.length > limit ? (keys.at(-1) ?? null) : null };
}

/**
 * Creates a key. Throws `ForbiddenError` for another caller without the scope `admin`, and for scopes that the actor
 * does not have. Throws
 * `NOT_FOUND` if the caller does not exist.
 */
export async function createKey(actor: Actor, request: KeyRequest, deps: KeyDeps): Promise<CreatedKey> {
  const caller = request.caller ?? actor.caller;
  if (caller === null) throw callerNotFoundError();
  if (!maySee(actor, caller)) throw adminScopeRequiredError();
  if (!mayGrant(actor, request.scopes)) throw grantNotAllowedError();
  if (caller !== actor.caller && !(await deps.callers.find(caller))) throw callerNotFoundError();
  return mint(actor, { ...request, caller }, deps);
}

/** Changes the label of a key. Throws `NOT_FOUND`, and `ForbiddenError` if the key has more scopes than the actor. */
export async function relabelKey(
  actor: Actor,
  id: string,
  label: string | null,
  deps: KeyDeps,
): Promise<ApiKey> {
  const key = await visibleKey(actor, id, deps);
  if (!mayChange(actor, key)) throw insufficientScopesError();
  await deps.keys.relabel(key.hash, label);
  return { ...key, label };
}

/** Revoked key. `descendants` are the keys revoked with it; undefined if not requested. */
export type Revocation = { key: ApiKey; descendants?: ApiKey[] | undefined };

/**
 * Revokes a key immediately, also during the grace period of a rotation. Repeatable. Throws `NOT_FOUND`, and
 * `ForbiddenError` if the key has more scopes than the actor or is the admin key in use.
 */
export async function revokeKey(
  actor: Actor,
  id: string,
  withDescendants: boolean,
  deps: KeyDeps,
): Promise<Revocation> {
  const key = await visibleKey(actor, id, deps);
  if (!mayChange(actor, key)) throw insufficientScopesError();
  if (!mayRevoke(actor, key)) throw ownAdminKeyError();
  return revokeAt(deps.now(), actor, key, withDescendants, deps);
}

/** Successor of a rotated key, the old key, and the descendants revoked with it. */
export type Rotation = CreatedKey & { old: ApiKey; descendants?: ApiKey[] | undefined };

/**
 * Creates a successor with the same caller, scopes and label. The old key, and its descendants if requested, end after
 * the grace period. Throws
 * `NOT_FOUND`, `ForbiddenError` for scopes that the actor does not have, and `BAD_REQUEST` for a revoked key.
 */
export async function rotateKey(
  actor: Actor,
  id: string,
  rotation: KeyRotation,
  deps: KeyDeps,
): Promise<Rotation> {
  const old = await visibleKey(actor, id, deps);
  if (!mayGrant(actor, old.scopes)) throw grantNotAllowedError();
  if (isRevoked(old, deps.now())) throw keyRevokedError();
  const created = await mint(actor, old, deps);
  const endsAt = addSeconds(deps.now(), rotation.grace_seconds);
  const { key, descendants } = await revokeAt(endsAt, actor, old, rotation.descendants, deps, created.key);
  return { ...created, old: key, descendants };
}

/** Revokes the key before its descendants: a revoked key creates no more keys, so that none is missed. */
async function revokeAt(
  time: Date,
  actor: Actor,
  key: ApiKey,
  withDescendants: boolean,
  { keys }: KeyDeps,
  successor?: ApiKey,
): Promise<Revocation> {
  await keys.revoke(key.hash, time);
  const revoked = (await keys.find(key.hash)) ?? key;
  if (!withDescendants) return { key: revoked };
  const descendants: ApiKey[] = [];
  const makers = [key.hash];
  for (let maker = makers.pop(); maker !== undefined; maker = makers.pop()) {
    for (const madeKey of await keys.listMadeBy(maker)) {
      if (madeKey.hash === successor?.hash) continue;
      if (!isRevoked(madeKey, time) && mayRevoke(actor, madeKey)) {
        await keys.revoke(madeKey.hash, time);
        descendants.push({ ...madeKey, revoked_at: time.toISOString() });
      }
      makers.push(madeKey.hash);
    }
  }
  return { key: revoked, descendants };
}

async function mint(
  actor: Actor,
  spec: Pick<ApiKey, 'caller' | 'scopes' | 'label'>,
  deps: KeyDeps,
): Promise<CreatedKey> {
  if (!mayCreate(actor)) throw keyReplacedError();
  const { caller, label, scopes } = spec;
  const now = deps.now();
  if (actor.caller !== null) await checkCreationRate(caller, now, deps);
  const created = mintKey({ caller, label, scopes: [...new Set(scopes)], created_by: actor.hash }, now, deps);
  const outcome = await deps.keys.create(created.key, maxKeysPerCaller);
  if (outcome === 'full') throw tooManyKeysError();
  if (outcome === 'maker_revoked') throw keyReplacedError();
  return created;
}

/**
 * Throws `RateLimitedError` above `maxKeysPerHour`. Revoked keys are stored for 30 days, so a leaked key could fill the
 * store with them.
 */
async function checkCreationRate(caller: string, now: Date, { keys }: KeyDeps): Promise<void> {
  const oldest = await keys.creationTime(caller, maxKeysPerHour - 1);
  if (oldest === undefined) return;
  const waitSeconds = Math.ceil(secondsUntil(addSeconds(oldest, 3600), now, 3600));
  if (waitSeconds > 0)
    throw new RateLimitedError(
      `Try again in ${waitSeconds} s: a caller may create ${maxKeysPerHour} keys per hour. Revoking a key is always possible.`,
      waitSeconds,
    );
}

/** Finds a key. Throws `NOT_FOUND` for an unknown key and for a key that the actor may not see. */
export async function visibleKey(actor: Actor, id: string, deps: KeyDeps): Promise<ApiKey> {
  const key = await deps.keys.find(id);
  if (key && maySee(actor, key.caller)) return key;
  throw new WatchpostError('NOT_FOUND', 'Key not found', 'Use a key_id from GET /keys.');
}

function adminScopeRequiredError(): ForbiddenError {
  return new ForbiddenError('Use a key with the scope "admin", or leave caller out for your own keys.');
}

function grantNotAllowedError(): ForbiddenError {
  return new ForbiddenError('Use a key that has all scopes of the new key, or set fewer scopes.');
}

function insufficientScopesError(): ForbiddenError {
  return new ForbiddenError('Use a key that has all scopes of that key.');
}

function ownAdminKeyError(): ForbiddenError {
  return new ForbiddenError('Use another admin key to revoke this one, or rotate it.');
}

function keyRevokedError(): WatchpostError {
  return new WatchpostError('BAD_REQUEST', 'Key is revoked', 'Create a new key with POST /keys.');
}

function keyReplacedError(): ForbiddenError {
  return new ForbiddenError('Use the successor of this key: a replaced key cannot create keys.');
}

function tooManyKeysError(): WatchpostError {
  return new WatchpostError(
    'BAD_REQUEST',
    `The caller has ${maxKeysPerCaller} keys`,
    'Revoke unused keys: GET /keys shows last_used_at.',
  );
}

function callerNotFoundError(): WatchpostError {
  return new WatchpostError('NOT_FOUND', 'No such caller', 'Add the caller with POST /callers.');
}

/** Returns a key as lists show it: `key_id` is its SHA-256, `prefix` the start of its text. */
export function presentKey(key: ApiKey) {
  const { hash, prefix, caller, scopes, label, created_by, created_at, last_used_at, revoked_at } = key;
  return { key_id: hash, prefix, caller, scopes, label, created_by, created_at, last_used_at, revoked_at };
}

/** Returns a page of keys. `next_after` is the start of the next page, `null` on the last. */
export function presentKeys({ keys, next }: ListedKeys) {
  return { keys: keys.map(presentKey), next_after: next === null ? null : `${next.created_at}.${next.hash}` };
}

/** Returns a revoked key, with its revoked descendants if requested. */
export function presentRevocation({ key, descendants }: Revocation) {
  return { ...presentKey(key), ...(descendants && { descendants: descendants.map(presentKey) }) };
}

/** Returns the successor with its text, and the key that it replaces. */
export function presentRotation({ old, descendants, ...created }: Rotation) {
  return { ...presentNewKey(created), replaces: presentRevocation({ key: old, descendants }) };
}

/** Returns a new key with its text in `key`. No later response contains it, because only its hash is stored. */
export function presentNewKey({ text, key }: CreatedKey) {
  return { key: text, ...presentKey(key) };
}

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
function mayChange(actor: Actor, key: ApiKey): boolean {
  return isAdmin(actor) || mayGrant(actor, key.scopes);
}

/**
 * Returns true if the actor may revoke the key. An admin key cannot revoke itself, so that one admin key always
 * remains.
 */
function mayRevoke(actor: Actor, key: ApiKey): boolean {
  return mayChange(actor, key) && !(key.hash === actor.hash && key.scopes.includes('admin'));
}

/** Returns true if the actor has the scope `admin`. */
export function isAdmin(actor: Actor): boolean {
  return actor.scopes.includes('admin');
}
