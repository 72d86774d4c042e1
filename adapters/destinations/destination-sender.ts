import type {
  DestinationOutcome,
  DestinationResult,
  Destinations,
  Notification,
  OpenSubjects,
  WebhookSigner,
} from '../../core/ports/delivery.ts';
import { describeDeliveryFailure } from '../../core/delivery/after-attempt.ts';
import { findSubject } from '../../core/delivery/receivers.ts';
import { destinationTypeSchema, type DestinationAddress } from '../../core/records/watch.ts';
import { readDiscordAnswer, toDiscordEdit, toDiscordRequest } from './discord/discord.ts';
import { isAllowedRecipient, toMail } from './email/email.ts';
import type { SendMail } from './email/smtp.ts';
import { toPublications, toRemoval } from './mqtt/mqtt.ts';
import type { Publish } from './mqtt/publish.ts';
import {
  jsonRequest,
  readAnswer,
  type HttpRequest,
  type HttpSender,
  type PermanentStatuses,
} from './http-sender.ts';
import { ntfyStatuses, toNtfyRequest } from './ntfy/ntfy.ts';
import { pagerdutyStatuses, toPagerdutyRequest, toResolveRequest } from './pagerduty/pagerduty.ts';
import { slackStatuses, toSlackRequest } from './slack/slack.ts';
import { readTelegramAnswer, toTelegramRequest, type TelegramResult } from './telegram/telegram.ts';
import { toEnvelope, webhookStatuses } from './webhook/webhook.ts';

export type DestinationSenderDeps = {
  /** HTTP through the egress guard, without redirects and within 30 s. */
  http: HttpSender;
  signer: WebhookSigner;
  now: () => Date;
  /** SMTP server of the operator; absent without one. */
  mail?: { send: SendMail; recipients: readonly string[] };
  /** Absent on AWS, where brokers are rarely reachable. */
  publish?: Publish;
};

/** Creates the sender of all destinations. Each format is a pure function in a folder of its own. */
export function createDestinations(deps: DestinationSenderDeps): Destinations {
  return {
    offered: {
      types: destinationTypeSchema.options.filter(
        (type) => (type !== 'email' || deps.mail) && (type !== 'mqtt' || deps.publish),
      ),
      recipients: deps.mail?.recipients ?? [],
    },
    reasonToRefuse: (address) => findRefusal(address, deps),
    send: (address, notification) => {
      const plain = { ...notification, frame: null, includeFrame: false, isPictureRefused: true as const };
      const isFilm = notification.event.type === 'alert_clip' && notification.frame !== null;
      const frameUrl = isFilm || address.type === 'webhook' ? notification.frameUrl : null;
      return sendSmaller(
        () => sendOnce(address, notification, deps),
        hasPicture(address, notification) ? () => sendOnce(address, { ...plain, frameUrl }, deps) : undefined,
        (result) => mayRefusePicture(address, result),
      );
    },
    sendEnvelope: (url, { caller, id, body, plain }) =>
      sendSmaller(
        () => sendWebhook(url, caller, id, body, deps),
        plain && (() => sendWebhook(url, caller, id, plain, deps)),
        isTooLarge,
      ),
    end: async (address, open) => {
      const results = await endAll(address, open, deps);
      const failed = results.find(({ outcome }) => outcome !== 'delivered');
      return failed ? describeDeliveryFailure(failed) : null;
    },
  };
}

/** Sends a message again without its picture if it may have been refused for that. */
async function sendSmaller(
  send: () => Promise<DestinationResult>,
  sendPlain: (() => Promise<DestinationResult>) | undefined,
  isRefused: (result: DestinationResult) => boolean,
): Promise<DestinationResult> {
  const result = await send();
  return sendPlain && isRefused(result) ? { ...(await sendPlain()), isPictureRefused: true } : result;
}

async function sendOnce(
  address: DestinationAddress,
  notification: Notification,
  deps: DestinationSenderDeps,
): Promise<DestinationResult> {
  switch (address.type) {
    case 'webhook':
      return sendWebhook(
        requireUrl(address),
        notification.caller,
        notification.id,
        toEnvelope(notification),
        deps,
      );
    case 'slack':
      return post(toSlackRequest(requireUrl(address), notification), slackStatuses, deps);
    case 'discord':
      return sendToDiscord(requireUrl(address), notification, deps);
    case 'ntfy':
      return post(toNtfyRequest(requireUrl(address), address, notification), ntfyStatuses, deps);
    case 'telegram': {
      const { movedTo, ...result } = await askTelegram(address, notification, deps);
      // A group that becomes a supergroup has another id, and refuses messages to the one before.
      return movedTo === undefined ? result : askTelegram({ ...address, to: movedTo }, notification, deps);
    }
    case 'pagerduty':
      return sendToPagerduty(address, notification, deps);
    case 'email':
      return sendMail(address, notification, deps);
    case 'mqtt':
      return publishStates(address, notification, deps);
    case 'heartbeat': {
      const result = await post(toHeartbeatRequest(requireUrl(address)), heartbeatStatuses, deps);
      return { ...result, outcome: result.outcome === 'delivered' ? 'delivered' : 'rejected' };
    }
  }
}

/** Adds a clip to the message of its opening, or sends another message if that was deleted. */
async function sendToDiscord(
  url: string,
  notification: Notification,
  { http }: DestinationSenderDeps,
): Promise<DestinationResult> {
  const edit = toDiscordEdit(url, notification);
  const edited = edit && readDiscordAnswer(await http.send(edit));
  if (edited && edited.status !== 404) return edited;
  return readDiscordAnswer(await http.send(toDiscordRequest(url, notification)));
}

async function askTelegram(
  address: DestinationAddress,
  notification: Notification,
  { http }: DestinationSenderDeps,
): Promise<TelegramResult> {
  return readTelegramAnswer(await http.send(toTelegramRequest(address, notification)));
}

/** Resolves an incident that was triggered while its destination was removed. */
async function sendToPagerduty(
  address: DestinationAddress,
  notification: Notification,
  deps: DestinationSenderDeps,
): Promise<DestinationResult> {
  const { event, watchId, current, readCurrent } = notification;
  const result = await post(toPagerdutyRequest(address, notification), pagerdutyStatuses, deps);
  const mayBeOpen = result.outcome === 'delivered' && event.type !== 'test' && event.type !== 'heartbeat';
  if (mayBeOpen && current !== null && readCurrent && (await readCurrent()) === null)
    await endAll(address, { watchId, conditions: [], subjects: [findSubject(event)] }, deps);
  return result;
}

/**
 * Publishes again if the state has changed during the attempt, because another attempt may have published it before.
 */
async function publishStates(
  address: DestinationAddress,
  notification: Notification,
  deps: DestinationSenderDeps,
  repetitions = 3,
): Promise<DestinationResult> {
  const { current, readCurrent } = notification;
  if (!deps.publish) return unsent('gone', findRefusal(address, deps));
  const result = await deps.publish(requireUrl(address), toPublications(notification));
  if (result.outcome !== 'delivered' || !readCurrent || repetitions === 0) return result;
  const now = await readCurrent();
  const isSame = JSON.stringify(now) === JSON.stringify(current);
  return isSame ? result : publishStates(address, { ...notification, current: now }, deps, repetitions - 1);
}

/** Other types keep nothing that needs an end. The incidents of PagerDuty are resolved one after the other. */
async function endAll(
  address: DestinationAddress,
  open: OpenSubjects,
  deps: DestinationSenderDeps,
): Promise<DestinationResult[]> {
  if (address.type === 'mqtt' && deps.publish)
    return [await deps.publish(requireUrl(address), toRemoval(open))];
  const results: DestinationResult[] = [];
  if (address.type === 'pagerduty')
    for (const subject of open.subjects)
      results.push(await post(toResolveRequest(address, open.watchId, subject), pagerdutyStatuses, deps));
  return results;
}

/**
 * Returns true for a message with a picture that a second request can leave out. That of MQTT is a message of its own.
 */
function hasPicture({ type }: DestinationAddress, { frame, frameUrl, includeFrame }: Notification): boolean {
  if (type === 'mqtt' || type === 'heartbeat') return false;
  return type === 'webhook' ? includeFrame && frame !== null : frame !== null || frameUrl !== null;
}

/**
 * Returns true if the message may have been refused for its picture. ntfy counts the bytes of attachments per day, and
 * answers 429.
 */
function mayRefusePicture({ type }: DestinationAddress, result: DestinationResult): boolean {
  if (result.mayBeAccepted) return false;
  return result.outcome === 'rejected' || isTooLarge(result) || (type === 'ntfy' && result.status === 429);
}

/** Returns true if a receiver may have refused a request for its size. */
function isTooLarge({ status, isBroken }: DestinationResult): boolean {
  return status === 413 || isBroken === true;
}

/** Signs at the time of the attempt, with all valid versions of the caller's secret. */
async function sendWebhook(
  url: string,
  caller: string,
  id: string,
  envelope: object,
  deps: DestinationSenderDeps,
): Promise<DestinationResult> {
  const request = jsonRequest(url, envelope);
  const signature = await deps.signer.sign(caller, id, deps.now(), String(request.body));
  return post({ ...request, headers: { ...request.headers, ...signature } }, webhookStatuses, deps);
}

async function post(
  request: HttpRequest,
  statuses: PermanentStatuses,
  { http }: DestinationSenderDeps,
): Promise<DestinationResult> {
  const result = await http.send(request);
  return readAnswer(result, statuses);
}

async function sendMail(
  { to = '' }: DestinationAddress,
  notification: Notification,
  { mail }: DestinationSenderDeps,
): Promise<DestinationResult> {
  // Checked again here: the operator may have removed the recipient since the watch was created.
  const refusal = findRefusal({ type: 'email', to }, { mail });
  if (!mail || refusal !== null) return unsent('gone', refusal);
  return mail.send(toMail(to, notification));
}

function findRefusal(
  { type, to = '' }: Pick<DestinationAddress, 'type' | 'to'>,
  {
    mail,
    publish,
  }: Pick<DestinationSenderDeps, 'publish'> & { mail?: DestinationSenderDeps['mail'] | undefined },
): string | null {
  if (type === 'mqtt') return publish ? null : 'MQTT is available on one machine only';
  if (type !== 'email') return null;
  if (!mail)
    return 'This service has no SMTP server: its operator sets WATCHPOST_SMTP_URL (on AWS: smtpSecretArn)';
  return isAllowedRecipient(to, mail.recipients) ? null : 'The operator does not allow this recipient';
}

function unsent(outcome: DestinationOutcome, error: string | null): DestinationResult {
  return { status: null, latencyMs: 0, error, retryAfter: null, outcome };
}

function requireUrl({ url, type }: DestinationAddress): string {
  if (url === undefined) throw new Error(`A ${type} destination has no URL`);
  return url;
}

/**
 * Monitor that expects a call in time, such as healthchecks.io or a push monitor of Uptime Kuma. It is never disabled:
 * an alarm follows from silence.
 */
const heartbeatStatuses: PermanentStatuses = { gone: [], rejected: [] };

/** Returns a GET, which all such monitors accept. It contains nothing about the watch. */
function toHeartbeatRequest(url: string): HttpRequest {
  return { url, headers: {}, body: null, readsAnswer: true };
}
