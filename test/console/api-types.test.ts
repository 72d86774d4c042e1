import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type * as console from '../../console/api/types.ts';
import type { checkOnceRequestSchema } from '../../core/requests/check-once.ts';
import type { digestRequestSchema } from '../../core/requests/live-digest.ts';
import type { monitorRequestSchema } from '../../core/requests/live-monitor.ts';
import type * as access from '../../core/responses/access.ts';
import type * as deliveries from '../../core/responses/deliveries.ts';
import type * as events from '../../core/responses/events.ts';
import type * as insight from '../../core/responses/observability.ts';
import type * as jobs from '../../core/responses/jobs.ts';
import type * as looks from '../../core/responses/checks.ts';

/** Compares the types of the console with the schemas of the API, which the console may not import. */

type Answer<Schema extends z.ZodType> = z.output<Schema>;

test('each response schema contains the fields that the console reads', () => {
  expectTypeOf<Answer<typeof access.keySchema>>().toExtend<console.Key>();
  expectTypeOf<Answer<typeof access.keyListResponseSchema>>().toExtend<console.KeyPage>();
  expectTypeOf<Answer<typeof access.newKeySchema>>().toExtend<console.NewKey>();
  expectTypeOf<Answer<typeof access.callerResponseSchema>>().toExtend<console.Caller>();
  expectTypeOf<Answer<typeof access.webhookSecretResponseSchema>>().toExtend<console.WebhookSecret>();
  expectTypeOf<Answer<typeof deliveries.deliveryPageSchema>>().toExtend<console.DeliveryPage>();
  expectTypeOf<Answer<typeof deliveries.webhookTestResponseSchema>>().toExtend<console.WebhookTest>();
  expectTypeOf<Answer<typeof insight.metricsResponseSchema>>().toExtend<console.Metrics>();
  expectTypeOf<Answer<typeof insight.alarmsResponseSchema>>().toExtend<console.AlarmList>();
  expectTypeOf<Answer<typeof insight.logsResponseSchema>>().toExtend<console.Logs>();
  expectTypeOf<Answer<typeof jobs.jobListResponseSchema>>().toExtend<console.JobList>();
  expectTypeOf<Answer<typeof jobs.jobDetailSchema>>().toExtend<console.JobDetail>();
  expectTypeOf<Answer<typeof looks.checkOnceResponseSchema>>().toExtend<console.CheckResult>();
  expectTypeOf<Answer<typeof looks.streamValidationResponseSchema>>().toExtend<console.StreamValidation>();
});

test('logged and streamed events contain the fields that the console reads', () => {
  expectTypeOf<Answer<typeof events.eventPageSchema>>().toExtend<console.EventPage>();
  expectTypeOf<Answer<typeof events.loggedEventSchema>>().toExtend<console.JobEvent>();
  expectTypeOf<Answer<typeof events.streamedEventSchema>>().toExtend<console.JobEvent>();
});

test('the request schemas accept the requests of the console', () => {
  expectTypeOf<console.CheckRequest>().toExtend<z.input<typeof checkOnceRequestSchema>>();
  expectTypeOf<console.MonitorRequest>().toExtend<z.input<typeof monitorRequestSchema>>();
  expectTypeOf<console.DigestRequest>().toExtend<z.input<typeof digestRequestSchema>>();
});
