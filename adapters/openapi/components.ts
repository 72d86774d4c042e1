import { z } from 'zod';
import { inputModeSchema } from '../../core/records/capture.ts';
import { deliveryStateSchema, webhookEventTypeSchema } from '../../core/records/delivery.ts';
import { policyEvents } from '../../core/policies/records.ts';
import { jobStatusSchema } from '../../core/records/job.ts';
import { gapSchema } from '../../core/records/sight.ts';
import { stopReasonSchema } from '../../core/records/stop-reason.ts';
import { scopeSchema } from '../../core/records/key.ts';
import { logLevelSchema } from '../../core/ports/log.ts';
import { analyzeFrameRequestSchema } from '../../core/requests/analyze-frame.ts';
import { cameraStreamsRequestSchema } from '../../core/requests/cameras.ts';
import { checkOnceRequestSchema } from '../../core/requests/check-once.ts';
import { webhookDefaultsRequestSchema, webhookTestRequestSchema } from '../../core/requests/deliveries.ts';
import { callerRequestSchema, keyLabelSchema, keyRequestSchema } from '../../core/requests/keys.ts';
import { digestRequestSchema } from '../../core/policies/digest/create.ts';
import { monitorRequestSchema } from '../../core/policies/monitor/create.ts';
import { validateStreamRequestSchema } from '../../core/requests/validate-stream.ts';
import { adviseRequestSchema } from '../../core/requests/advise.ts';
import { adviceResponseSchema } from '../../core/responses/advice.ts';
import * as access from '../../core/responses/access.ts';
import { camerasResponseSchema, cameraStreamsResponseSchema } from '../../core/responses/cameras.ts';
import * as deliveries from '../../core/responses/deliveries.ts';
import { errorCodeSchema, errorEnvelopeSchema, validationErrorSchema } from '../../core/responses/errors.ts';
import * as events from '../../core/responses/events.ts';
import { jobTypeSchema } from '../../core/records/job-type.ts';
import { serviceResponseSchema } from '../../core/responses/service.ts';
import * as insight from '../../core/responses/observability.ts';
import * as configs from '../../core/responses/job-config.ts';
import * as jobs from '../../core/responses/jobs.ts';
import { usageResponseSchema } from '../../core/responses/usage.ts';
import * as watchEvents from '../../core/responses/watch-events.ts';
import * as watches from '../../core/responses/watches.ts';
import { reviewRequestSchema, snoozeRequestSchema } from '../../core/requests/watch-queries.ts';
import { watchPatchSchema, watchRequestSchema } from '../../core/requests/watches.ts';
import { destinationTypeSchema, notifySchema, severitySchema } from '../../core/records/watch.ts';
import { watchStatusSchema } from '../../core/records/watch-state.ts';
import * as checks from '../../core/responses/checks.ts';
import { componentSchemas, jsonSchema, refTo } from './json-schema.ts';
import type { JsonObject } from './json-schema.ts';

/** Named schemas of the document, so that generated clients have a type for each. */

type Registry = z.core.$ZodRegistry<{ id: string }>;

const shared = {
  InputMode: inputModeSchema,
  JobStatus: jobStatusSchema,
  JobType: jobTypeSchema,
  WebhookEventType: webhookEventTypeSchema,
  Scope: scopeSchema,
  Severity: severitySchema,
  Notify: notifySchema,
  DestinationType: destinationTypeSchema,
  WatchStatus: watchStatusSchema,
};

const requests = createRegistry({
  ...shared,
  CheckOnceRequest: checkOnceRequestSchema,
  AdviseRequest: adviseRequestSchema,
  AnalyzeFrameRequest: analyzeFrameRequestSchema,
  ValidateStreamRequest: validateStreamRequestSchema,
  CameraStreamsRequest: cameraStreamsRequestSchema,
  MonitorRequest: monitorRequestSchema,
  DigestRequest: digestRequestSchema,
  WebhookTestRequest: webhookTestRequestSchema,
  WebhookDefaultsRequest: webhookDefaultsRequestSchema,
  KeyRequest: keyRequestSchema,
  KeyLabel: keyLabelSchema,
  CallerRequest: callerRequestSchema,
  WatchRequest: watchRequestSchema,
  WatchPatch: watchPatchSchema,
  SnoozeRequest: snoozeRequestSchema,
  ReviewRequest: reviewRequestSchema,
});

const responses = createRegistry({
  ...shared,
  StopReason: stopReasonSchema,
  Gap: gapSchema,
  ErrorCode: errorCodeSchema,
  ErrorEnvelope: errorEnvelopeSchema,
  ValidationErrors: validationErrorSchema,
  CheckOnceResponse: checks.checkOnceResponseSchema,
  Advice: adviceResponseSchema,
  AnalyzeFrameResponse: checks.analyzeFrameResponseSchema,
  StreamValidation: checks.streamValidationResponseSchema,
  CameraList: camerasResponseSchema,
  CameraStreams: cameraStreamsResponseSchema,
  ...Object.fromEntries(
    configs.configSchemas.map(({ policy, config }) => [`${toPascal(policy)}Config`, config]),
  ),
  JobConfig: configs.jobConfigSchema,
  ...Object.fromEntries(
    configs.configSchemas.map(({ policy, details }) => [`${toPascal(policy)}Details`, details]),
  ),
  JobDetails: configs.jobDetailsSchema,
  FinalStats: jobs.finalStatsSchema,
  JobStats: jobs.jobStatsSchema,
  JobSummary: jobs.jobSummarySchema,
  JobDetail: jobs.jobDetailSchema,
  JobList: jobs.jobListResponseSchema,
  CancelledJob: jobs.cancelResponseSchema,
  JobStarted: events.jobStartedSchema,
  Progress: events.progressSchema,
  ...policyEventSchemas(),
  ErrorEvent: events.errorEventSchema,
  JobStopped: events.jobStoppedSchema,
  LoggedEvent: events.loggedEventSchema,
  StreamedEvent: events.streamedEventSchema,
  EventPage: events.eventPageSchema,
  TestEvent: events.testEventSchema,
  DeliveryState: deliveryStateSchema,
  Delivery: deliveries.deliverySchema,
  DeliveryPage: deliveries.deliveryPageSchema,
  Resend: deliveries.resendResponseSchema,
  WebhookTest: deliveries.webhookTestResponseSchema,
  WebhookDefaults: deliveries.webhookDefaultsResponseSchema,
  WebhookSecret: access.webhookSecretResponseSchema,
  Key: access.keySchema,
  KeyList: access.keyListResponseSchema,
  NewKey: access.newKeySchema,
  RevokedKey: access.revokedKeySchema,
  RotatedKey: access.rotatedKeySchema,
  Caller: access.callerResponseSchema,
  CallerList: access.callerListResponseSchema,
  Erasure: access.erasureResponseSchema,
  Usage: usageResponseSchema,
  Service: serviceResponseSchema,
  Metrics: insight.metricsResponseSchema,
  LogLevel: logLevelSchema,
  Alarms: insight.alarmsResponseSchema,
  Logs: insight.logsResponseSchema,
  Watch: watches.watchResponseSchema,
  WatchList: watches.watchListResponseSchema,
  DeletedWatch: watches.deletedWatchResponseSchema,
  WatchStats: watches.watchStatsResponseSchema,
  WatchTest: deliveries.watchTestResponseSchema,
  WatchDeliveryPage: deliveries.watchDeliveryPageSchema,
  WatchResend: deliveries.watchResendResponseSchema,
  WatchPreview: watches.previewResponseSchema,
  Alert: watches.alertResponseSchema,
  AlertList: watches.alertListResponseSchema,
  WatchEvent: watchEvents.watchEventResponseSchema,
  WatchEventPage: watchEvents.watchEventPageSchema,
  AllWatchEventsPage: watchEvents.allWatchEventsPageSchema,
  StreamedWatchEvent: watchEvents.streamedWatchEventSchema,
});

export function namedSchemas(): Record<string, JsonObject> {
  return { ...componentSchemas(requests, 'request'), ...componentSchemas(responses, 'response') };
}

/** Returns a reference if the schema is named, else the schema. */
export function requestSchema(schema: z.ZodType): JsonObject {
  return refOr(schema, requests) ?? jsonSchema(schema, 'request');
}

export function responseSchema(schema: z.ZodType): JsonObject {
  return refOr(schema, responses) ?? jsonSchema(schema, 'response');
}

function refOr(schema: z.ZodType, registry: Registry): JsonObject | undefined {
  const id = registry.get(schema)?.id;
  return id === undefined ? undefined : { $ref: refTo(id) };
}

/** Returns the schemas of the events that only jobs of one policy have: with links to images, and with images. */
function policyEventSchemas(): Record<string, z.ZodType> {
  const named = Object.entries(policyEvents).flatMap(
    ([type, { linked, streamed }]): [string, z.ZodType][] => [
      [toPascal(type), linked],
      [`${toPascal(type)}WithPicture`, streamed],
    ],
  );
  return Object.fromEntries(named);
}

function toPascal(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function createRegistry(schemas: Record<string, z.ZodType>): Registry {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  return registry;
}
