import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type * as console from '../../console/api/types.ts';
import type { checkOnceRequestSchema } from '../../core/requests/check-once.ts';
import type { digestRequestSchema } from '../../core/requests/live-digest.ts';
import type { monitorRequestSchema } from '../../core/requests/live-monitor.ts';
import type * as access from '../../core/responses/access.ts';
import type * as deliveries from '../../core/responses/deliveries.ts';
import type * as events from '../../core/responses/events.ts';
import type * as insight from '../../core/responses/insight.ts';
import type * as jobs from '../../core/responses/jobs.ts';
import type * as looks from '../../core/responses/looks.ts';

/** The console may not import the schemas of the API; the compiler holds its own types against them here. */

type Answer<Schema extends z.ZodType> = z.output<Schema>;

test('what the console reads of an answer is in the answer', () => {
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
  expectTypeOf<Answer<typeof looks.checkOnceResponseSchema>>().toExtend<console.Look>();
  expectTypeOf<Answer<typeof looks.streamValidationResponseSchema>>().toExtend<console.StreamValidation>();
});

test('what the console reads of an event is in it, in the log and in the stream', () => {
  expectTypeOf<Answer<typeof events.eventPageSchema>>().toExtend<console.EventPage>();
  expectTypeOf<Answer<typeof events.loggedEventSchema>>().toExtend<console.JobEvent>();
  expectTypeOf<Answer<typeof events.streamedEventSchema>>().toExtend<console.JobEvent>();
});

test('what the console sends is taken', () => {
  expectTypeOf<console.LookRequest>().toExtend<z.input<typeof checkOnceRequestSchema>>();
  expectTypeOf<console.MonitorRequest>().toExtend<z.input<typeof monitorRequestSchema>>();
  expectTypeOf<console.DigestRequest>().toExtend<z.input<typeof digestRequestSchema>>();
});
