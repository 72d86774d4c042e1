import { noSpanError } from '../../../core/errors.ts';
import { acknowledgeOwnAlert, requireOwnAlert, reviewOwnAlert } from '../../../core/watch/control-watch.ts';
import { presentAlert } from '../../../core/watch/present-watch.ts';
import { readAlertClip, readAlertFrame } from '../../../core/watch/read-frames.ts';
import {
  alertFrameQuerySchema,
  alertListQuerySchema,
  alertPathSchema,
  readAlertPosition,
  reviewRequestSchema,
} from '../../../core/requests/watch-queries.ts';
import { alertListResponseSchema, alertResponseSchema } from '../../../core/responses/watches.ts';
import * as examples from '../../openapi/examples/watches.ts';
import { defineEndpoint, type Call } from '../endpoint.ts';
import { jpegResponse, jsonResponse, mp4Response } from '../endpoint-response.ts';

/** Alerts of all watches of a caller. */

const shared = { tag: 'watches', scope: 'jobs' } as const;
const alertExample = { alert_id: examples.alertId };

const listAlertsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'list_alerts',
    method: 'get',
    scope: 'read',
    path: '/alerts',
    title: 'List alerts',
    description:
      'Returns the alerts of your watches, newest first: those that were open between `from` and `to`, also if they opened before.',
    effect: 'reads',
    request: { query: alertListQuerySchema },
    response: jsonResponse(alertListResponseSchema, { description: 'One page of alerts' }),
    errors: ['BAD_REQUEST'],
    examples: { response: { alerts: { alerts: [examples.alert], next_after: null } } },
  },
  async (
    { query: { watch_id: watchId, condition_id: conditionId, after, limit, ...rest }, caller },
    deps,
  ) => {
    const { from, to } = rest;
    if (from && to && from > to) throw noSpanError(from, to);
    const position = readAlertPosition(after);
    const query = { ...rest, caller, watchId, conditionId, after: position, limit: limit + 1 };
    const listed = await deps.watches.alerts(query, deps.now());
    const page = listed.slice(0, limit);
    const last = listed.length > limit ? page.at(-1) : undefined;
    return {
      alerts: page.map((alert) => presentAlert(alert, deps)),
      next_after: last ? `${last.opened_at}.${last.alert_id}` : null,
    };
  },
);

const getAlertEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'get_alert',
    method: 'get',
    scope: 'read',
    path: '/alerts/{alert_id}',
    title: 'Read an alert',
    description: 'Returns an alert. It stays readable for `retention_days` of its watch after it has closed.',
    effect: 'reads',
    request: { parameters: alertPathSchema },
    response: jsonResponse(alertResponseSchema, { description: 'The alert' }),
    errors: ['ALERT_NOT_FOUND'],
    examples: { parameters: alertExample, response: { alert: examples.alert } },
  },
  async ({ parameters, caller }, deps) =>
    presentAlert(await requireOwnAlert(parameters.alert_id, caller, deps), deps),
);

const reviewAlertEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'review_alert',
    method: 'post',
    path: '/alerts/{alert_id}/review',
    title: 'Review an alert',
    description:
      'Stores whether the alert was right. Reviews give the precision in the statistics; they change no state.',
    effect: 'changes',
    request: { parameters: alertPathSchema, body: reviewRequestSchema },
    response: jsonResponse(alertResponseSchema, { description: 'The reviewed alert' }),
    errors: ['ALERT_NOT_FOUND'],
    examples: {
      parameters: alertExample,
      body: { right: { correct: true }, wrong: { correct: false, note: 'A shadow' } },
      response: { alert: examples.reviewedAlert },
    },
  },
  async ({ parameters, body, caller, key }, deps) =>
    presentAlert(await reviewOwnAlert(parameters.alert_id, body, caller, nameKey(key), deps), deps),
);

const acknowledgeAlertEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'acknowledge_alert',
    method: 'post',
    path: '/alerts/{alert_id}/acknowledge',
    title: 'Acknowledge an alert',
    description:
      'Stops the reminders of an open alert and tells the destinations. A closed alert is marked only.',
    effect: 'changes',
    request: { parameters: alertPathSchema },
    response: jsonResponse(alertResponseSchema, { description: 'The alert' }),
    errors: ['ALERT_NOT_FOUND', 'WATCH_NOT_FOUND'],
    examples: { parameters: alertExample, response: { alert: examples.alert } },
  },
  async ({ parameters, caller, key }, deps) =>
    presentAlert(await acknowledgeOwnAlert(parameters.alert_id, caller, nameKey(key), deps), deps),
);

const alertFrameEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'alert_frame',
    method: 'get',
    scope: 'read',
    path: '/alerts/{alert_id}/frame',
    title: "Get an alert's picture",
    description:
      'Returns the frame of the opening, or of the closing with `moment=closed`. With `boxes=true`, the boxes of the objects are drawn on a copy of the opening.',
    effect: 'reads',
    request: { parameters: alertPathSchema, query: alertFrameQuerySchema },
    response: jpegResponse({ description: 'The picture', cacheControl: 'private, max-age=3600' }),
    errors: ['ALERT_NOT_FOUND', 'NOT_FOUND'],
    examples: { parameters: alertExample },
  },
  ({ parameters, query, caller }, deps) => readAlertFrame(parameters.alert_id, query, caller, deps),
);

const alertClipEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'alert_clip',
    method: 'get',
    scope: 'read',
    path: '/alerts/{alert_id}/clip',
    title: "Get an alert's clip",
    description:
      'Returns the film around the opening as MP4 without audio, or a range of it. The field `clip` of the alert says whether there is one.',
    effect: 'reads',
    withoutTool: true,
    request: { parameters: alertPathSchema },
    response: mp4Response({ description: 'The film' }),
    errors: ['ALERT_NOT_FOUND', 'NOT_FOUND'],
    examples: { parameters: alertExample },
  },
  ({ parameters, caller }, deps) => readAlertClip(parameters.alert_id, caller, deps),
);

export const alertEndpoints = [
  listAlertsEndpoint,
  getAlertEndpoint,
  reviewAlertEndpoint,
  acknowledgeAlertEndpoint,
  alertFrameEndpoint,
  alertClipEndpoint,
];

/** Returns the name of a key for people: its label, else its prefix. */
export function nameKey({ label, prefix }: Call['key']): string {
  return label ?? prefix;
}
