import { z } from 'zod';
import { withCallLimit } from '../../../core/access/call-admission.ts';
import { findUnjudged } from '../../../core/advice/advise.ts';
import { requireOwnWatch } from '../../../core/watch/commit-watch.ts';
import {
  deleteStoredWatch,
  pauseStoredWatch,
  resumeStoredWatch,
  snoozeStoredWatch,
} from '../../../core/watch/control-watch.ts';
import { copyDestinations, createWatch } from '../../../core/watch/create-watch.ts';
import { editWatch } from '../../../core/watch/edit-watch.ts';
import { listWatches } from '../../../core/watch/stored-watch.ts';
import { presentWatch } from '../../../core/watch/present-watch.ts';
import { readWatchFrame } from '../../../core/watch/read-frames.ts';
import { readWatchStats } from '../../../core/watch/watch-stats.ts';
import { idempotencyKey } from '../../../core/requests/fields.ts';
import {
  createWatchQuerySchema,
  snoozeRequestSchema,
  watchListQuerySchema,
  watchPathSchema,
  watchStatsQuerySchema,
} from '../../../core/requests/watch-queries.ts';
import { watchPatchSchema, watchRequestSchema } from '../../../core/requests/watches.ts';
import {
  changedWatchResponseSchema,
  deletedWatchResponseSchema,
  watchListResponseSchema,
  watchResponseSchema,
  watchStatsResponseSchema,
} from '../../../core/responses/watches.ts';
import type { WatchRun } from '../../../core/records/run.ts';
import * as examples from '../../openapi/examples/watches.ts';
import { defineEndpoint, type Call } from '../endpoint.ts';
import type { HttpDeps } from '../dependencies.ts';
import { jpegResponse, jsonResponse } from '../endpoint-response.ts';
import { validationError } from '../validate-request.ts';
import {
  previewNewWatchEndpoint,
  previewWatchEndpoint,
  streamErrors,
  testWatchEndpoint,
} from './try-watch.ts';

const pattern = /^(?:\*|(?:W\/)?"\d{1,10}")$/;

/** Header `If-Match`: the ETag of a watch, or `*` for any version. */
const ifMatchHeader = z
  .string()
  .refine((value) => pattern.test(value), 'use the ETag of GET /watches/{watch_id}, as "3", or *')
  .optional()
  .describe(
    'ETag of the version that the change is based on; 412 if the watch has another. Absent: any version.',
  );

/** Returns the version in an `If-Match` header; undefined for any version. */
function readVersion(ifMatch: string | undefined): number | undefined {
  const digits = /\d+/.exec(ifMatch ?? '')?.[0];
  return digits === undefined ? undefined : Number(digits);
}

function toEntityTag(version: number): string {
  return `"${version}"`;
}

/** Endpoints of watches: monitors that stand until they are paused or deleted. */

const shared = { tag: 'watches', scope: 'jobs' } as const;
const watchExample = { watch_id: examples.watchId };

function respondWithWatch(
  stored: WatchRun,
  { setHeader }: Pick<Call, 'setHeader'>,
  { now }: Pick<HttpDeps, 'now'>,
) {
  setHeader('ETag', toEntityTag(stored.config_version));
  return presentWatch(stored, now());
}

const listWatchesEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'list_watches',
    method: 'get',
    scope: 'read',
    path: '/watches',
    title: 'List watches',
    description: 'Returns your watches, oldest first, with their status and the state of each condition.',
    effect: 'reads',
    request: { query: watchListQuerySchema },
    response: jsonResponse(watchListResponseSchema, { description: 'One page of watches' }),
    errors: [],
    examples: {
      response: { watches: { watches: [examples.watch], total: 1, limit: 50, offset: 0 } },
    },
  },
  async ({ query, caller }, deps) => {
    const { watches, total } = await listWatches(query, caller, deps);
    return {
      watches: watches.map((watch) => presentWatch(watch, deps.now())),
      total,
      limit: query.limit,
      offset: query.offset,
    };
  },
);

const createWatchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'create_watch',
    method: 'post',
    path: '/watches',
    title: 'Create a watch',
    description:
      'Starts a watch that stands until it is paused or deleted. It opens an alert when a condition holds, closes it when the condition has ended, and tells each destination once.',
    effect: 'starts',
    rateLimit: 'creations',
    // Includes 20 s for the probe of the stream.
    timeBudgetSeconds: 29,
    // Eight conditions and five destinations, with every character escaped.
    maxBodyBytes: 128_000,
    request: {
      headers: z.object({
        'Idempotency-Key': idempotencyKey
          .optional()
          .describe(
            'Within a day, the same key and body return the watch of the first request; another body returns 422',
          ),
      }),
      query: createWatchQuerySchema,
      body: watchRequestSchema,
    },
    response: jsonResponse(changedWatchResponseSchema, { description: 'The watch' }),
    errors: [...streamErrors, 'MAX_WATCHES_REACHED', 'SERVICE_OVERLOADED', 'WATCH_NOT_FOUND'],
    examples: {
      body: { watch: examples.watchRequest, full: examples.fullWatchRequest },
      response: { watch: examples.watch },
    },
  },
  async ({ headers, query: { destinations_of: other }, body, caller, key, setHeader }, deps) => {
    const destinations =
      other === undefined || body.destinations.length > 0
        ? body.destinations
        : await copyDestinations(other, caller, deps);
    const create = () =>
      createWatch({ ...body, destinations }, caller, deps, {
        key: headers['Idempotency-Key'],
        keyHash: key.hash,
      });
    const created = await withCallLimit(caller, deps, create);
    return { ...respondWithWatch(created, { setHeader }, deps), ...listNotJudged(created, deps) };
  },
);

const getWatchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'get_watch',
    method: 'get',
    scope: 'read',
    path: '/watches/{watch_id}',
    title: 'Read a watch',
    description:
      'Returns configuration and state. The header `ETag` is the version of the configuration, for `If-Match` of a change.',
    effect: 'reads',
    request: { parameters: watchPathSchema },
    response: jsonResponse(watchResponseSchema, { description: 'The watch' }),
    errors: ['WATCH_NOT_FOUND'],
    examples: { parameters: watchExample, response: { watch: examples.watch } },
  },
  async ({ parameters, caller, setHeader }, deps) =>
    respondWithWatch(await requireOwnWatch(parameters.watch_id, caller, deps), { setHeader }, deps),
);

const changeWatchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'change_watch',
    method: 'patch',
    path: '/watches/{watch_id}',
    title: 'Change a watch',
    description:
      'Applies a merge patch (RFC 7396): absent fields stay, null restores a default (`evidence_clip`: no clip), a list replaces the list before. Conditions and destinations match by id. Another text of a condition closes its alert; other numbers of checks keep its state. A destination keeps its address if the patch omits it.',
    effect: 'changes',
    timeBudgetSeconds: 29,
    maxBodyBytes: 128_000,
    request: {
      parameters: watchPathSchema,
      headers: z.object({ 'If-Match': ifMatchHeader }),
      body: watchPatchSchema,
    },
    response: jsonResponse(changedWatchResponseSchema, { description: 'The changed watch' }),
    errors: ['WATCH_NOT_FOUND', 'PRECONDITION_FAILED', ...streamErrors],
    examples: {
      parameters: watchExample,
      body: { interval: { interval_seconds: 15 } },
      response: { watch: examples.watch },
    },
  },
  async ({ parameters, headers, body, caller, setHeader }, deps) => {
    const edit = { watchId: parameters.watch_id, patch: body, ifMatch: readVersion(headers['If-Match']) };
    const { former, ...changed } = await editWatch(edit, caller, deps, validate);
    const watch = respondWithWatch(changed, { setHeader }, deps);
    return {
      ...watch,
      ...listNotJudged(changed, deps),
      ...(former.length > 0 && { former_destinations: former }),
    };
  },
);

/**
 * Returns what of its conditions the model does not judge, which would otherwise never open an alert without a word.
 */
function listNotJudged({ config }: Pick<WatchRun, 'config'>, { vision }: Pick<HttpDeps, 'vision'>) {
  const notJudged = config.conditions
    .map(({ condition_id, condition }) => ({
      condition_id,
      findings: findUnjudged(condition, vision.capabilities),
    }))
    .filter(({ findings }) => findings.length > 0);
  return notJudged.length === 0 ? {} : { not_judged: notJudged };
}

/** Validates a patched watch like a new one. Throws `ValidationError`. */
function validate(merged: unknown) {
  const parsed = watchRequestSchema.safeParse(merged);
  if (!parsed.success) throw validationError(parsed.error.issues, merged, 'body');
  return parsed.data;
}

const deleteWatchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'delete_watch',
    method: 'delete',
    path: '/watches/{watch_id}',
    title: 'Delete a watch',
    description:
      'Closes its alerts, and erases its stream URL and evidence. Its last events are delivered for up to a day.',
    effect: 'removes',
    request: { parameters: watchPathSchema },
    response: jsonResponse(deletedWatchResponseSchema, { description: 'The watch is deleted' }),
    errors: ['WATCH_NOT_FOUND'],
    examples: {
      parameters: watchExample,
      response: { deleted: { watch_id: examples.watchId, message: 'Watch deleted' } },
    },
  },
  async ({ parameters: { watch_id: watchId }, caller }, deps) => {
    const notified = await deleteStoredWatch(watchId, caller, deps);
    return { watch_id: watchId, message: 'Watch deleted', ...(notified.length > 0 && { notified }) };
  },
);

const pauseWatchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'pause_watch',
    method: 'post',
    path: '/watches/{watch_id}/pause',
    title: 'Pause a watch',
    description:
      'Stops checking and closes open alerts with the reason `paused`, until the watch is resumed.',
    effect: 'changes',
    request: { parameters: watchPathSchema },
    response: jsonResponse(watchResponseSchema, { description: 'The paused watch' }),
    errors: ['WATCH_NOT_FOUND'],
    examples: { parameters: watchExample, response: { watch: { ...examples.watch, status: 'paused' } } },
  },
  async ({ parameters, caller, setHeader }, deps) =>
    respondWithWatch(await pauseStoredWatch(parameters.watch_id, caller, deps), { setHeader }, deps),
);

const resumeWatchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'resume_watch',
    method: 'post',
    path: '/watches/{watch_id}/resume',
    title: 'Resume a watch',
    description: 'Continues a paused watch with an immediate check.',
    effect: 'changes',
    request: { parameters: watchPathSchema },
    response: jsonResponse(watchResponseSchema, { description: 'The resumed watch' }),
    errors: ['WATCH_NOT_FOUND'],
    examples: { parameters: watchExample, response: { watch: examples.watch } },
  },
  async ({ parameters, caller, setHeader }, deps) =>
    respondWithWatch(await resumeStoredWatch(parameters.watch_id, caller, deps), { setHeader }, deps),
);

const snoozeWatchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'snooze_watch',
    method: 'post',
    path: '/watches/{watch_id}/snooze',
    title: 'Snooze a watch',
    description:
      'For `seconds`, no alert opens and none is repeated: of one condition, or of all. 0 ends the snooze.',
    effect: 'changes',
    request: { parameters: watchPathSchema, body: snoozeRequestSchema },
    response: jsonResponse(watchResponseSchema, { description: 'The snoozed watch' }),
    errors: ['WATCH_NOT_FOUND'],
    examples: {
      parameters: watchExample,
      body: { hour: { seconds: 3600 } },
      response: { watch: examples.watch },
    },
  },
  async ({ parameters, body, caller, setHeader }, deps) => {
    const snooze = { watchId: parameters.watch_id, seconds: body.seconds, conditionId: body.condition_id };
    return respondWithWatch(await snoozeStoredWatch(snooze, caller, deps), { setHeader }, deps);
  },
);

const watchStatsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'watch_stats',
    method: 'get',
    scope: 'read',
    path: '/watches/{watch_id}/stats',
    title: 'Read the statistics of a watch',
    description:
      'Returns checks, skips, coverage, alerts, tokens and cost by day and hour (UTC), and the precision of reviewed alerts by condition and week with its 95 % confidence interval.',
    effect: 'reads',
    request: { parameters: watchPathSchema, query: watchStatsQuerySchema },
    response: jsonResponse(watchStatsResponseSchema, { description: 'The statistics' }),
    errors: ['BAD_REQUEST', 'WATCH_NOT_FOUND'],
    examples: { parameters: watchExample, response: { stats: examples.stats } },
  },
  ({ parameters, query, caller }, deps) =>
    readWatchStats({ watchId: parameters.watch_id, ...query }, caller, deps),
);

const watchFrameEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'watch_frame',
    method: 'get',
    scope: 'read',
    path: '/watches/{watch_id}/frame',
    title: "Get a watch's newest picture",
    description: 'Returns the frame of the last capture, also if the pre-filter skipped it.',
    effect: 'reads',
    request: { parameters: watchPathSchema },
    response: jpegResponse({ description: 'The picture', cacheControl: 'private, no-cache' }),
    errors: ['WATCH_NOT_FOUND', 'NOT_FOUND'],
    examples: { parameters: watchExample },
  },
  ({ parameters, caller }, deps) => readWatchFrame(parameters.watch_id, caller, deps),
);

export const watchEndpoints = [
  listWatchesEndpoint,
  createWatchEndpoint,
  previewNewWatchEndpoint,
  getWatchEndpoint,
  changeWatchEndpoint,
  deleteWatchEndpoint,
  pauseWatchEndpoint,
  resumeWatchEndpoint,
  snoozeWatchEndpoint,
  previewWatchEndpoint,
  watchStatsEndpoint,
  watchFrameEndpoint,
  testWatchEndpoint,
];
