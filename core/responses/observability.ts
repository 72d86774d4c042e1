import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { alarmSchema, logLevelSchema } from '../ports/observability.ts';
import { destinationTypeSchema } from '../records/watch.ts';
import { count, timestamp } from './fields.ts';

export const metricsResponseSchema = z.object({
  started_at: timestamp.describe('Start of the count'),
  providers: z
    .record(z.string(), z.object({ calls: count, errors: count }))
    .describe('Model calls by provider'),
  jobs: z.object({ created: count, completed: count, failed: count }),
  frames: z.object({
    captured: count.describe('Captures that reached the model'),
    skipped_prefilter: count.describe('Captures that the pre-filter skipped'),
  }),
  late: z
    .object({
      checks: count.describe('Checks whose interval the service stretched, because it was overloaded'),
      seconds: z.number().describe('Mean time for which checks waited for the service lately'),
      interval_factor: z.number().describe('Factor of all intervals, 1 without overload'),
      blocked_seconds: z.number().describe('Time for which the event loop was blocked; 0 on AWS'),
      session_fallbacks: count.describe(
        'RTSP streams whose captures have a connection each, because their session was not usable; 0 on AWS',
      ),
    })
    .describe('Delay of checks by an overload of the service'),
  watches: z
    .object({
      active: count.describe('Watches that watch'),
      off_schedule: count,
      budget_exhausted: count,
      stream_lost: count,
      late: count.describe('Watches whose check is overdue by five minutes, or was at the last one'),
      unjudged: count.describe('Watches whose model calls fail'),
      destinations_failing: count.describe('Watches with a destination that accepts nothing'),
    })
    .describe('Watches that are not paused, at this moment'),
  searches: z
    .object({ started: count, model_calls: count, cost_usd: z.number() })
    .describe('Searches in moments, with their model calls and the list price of these; 0 if it is unknown'),
  moments: z
    .object({ dropped: count })
    .describe('Judged pictures that a memory lacks, since they could not be stored'),
  webhooks: z.object({ sent: count, failed: count }).describe('Deliveries to all destinations but mail'),
  mails: z.object({ sent: count, failed: count }),
  media: z
    .object({
      bytes: count.nullable().describe('null before the first count, a minute after the start'),
      max_bytes: count.nullable().describe('WATCHPOST_MEDIA_MB; null without a maximum'),
      evidence_removed: count.describe(
        'Pictures of alerts that were removed before the end of their retention',
      ),
    })
    .nullable()
    .describe('Pictures and clips on this machine; null on AWS'),
});
apiNames.add(metricsResponseSchema, { id: 'Metrics' });

export const alarmsResponseSchema = z.object({
  alarms: z.array(alarmSchema).nullable().describe('null if the service has no alarms (embedded mode)'),
});
apiNames.add(alarmsResponseSchema, { id: 'Alarms' });

export const logsResponseSchema = z.object({
  total_in_buffer: count,
  returned: count,
  logs: z.array(
    z.object({
      time: timestamp,
      level: logLevelSchema,
      message: z
        .string()
        .describe('Log message; starts with [JOB:<first 8 characters of the job id>] if it concerns a job'),
    }),
  ),
});
apiNames.add(logsResponseSchema, { id: 'Logs' });

/** Response of `GET /service`: what a caller can expect of this service. */
export const serviceResponseSchema = z.object({
  version: z
    .string()
    .describe('Version of the software; the version of the interface is in the OpenAPI document'),
  limits: z.object({
    max_job_seconds: z.int().describe('Maximum duration of a monitor, and of a digest without max_windows'),
    retention_seconds: z.int().describe('Time for which a finished job stays readable'),
    jobs_per_caller: z.int().describe('Maximum active jobs of a caller'),
  }),
  destination_types: z
    .array(destinationTypeSchema)
    .describe(
      'Types of destinations; email needs an SMTP server of the operator, mqtt a service of one machine',
    ),
  email_recipients: z
    .array(z.string())
    .describe(
      'Whom e-mail may go to: domains, and addresses with masked names. Settings: WATCHPOST_SMTP_URL, WATCHPOST_EMAIL_FROM, WATCHPOST_EMAIL_RECIPIENTS; on AWS smtpSecretArn, emailFrom, emailRecipients',
    ),
  discovers_cameras: z.boolean().describe('True if GET /cameras asks the cameras of the network'),
  model: z.object({
    provider: z.string(),
    name: z.string(),
    supports_video: z.boolean().describe('True if input_mode can be clip or hybrid'),
    condition_examples: z.array(z.string()).describe('Conditions that this model judges well'),
  }),
});
apiNames.add(serviceResponseSchema, { id: 'Service' });

const amounts = {
  model_calls: count,
  model_errors: count.describe(
    'Model calls without a usable result; they cost the tokens that the model stated, else nothing',
  ),
  input_tokens: count,
  output_tokens: count,
  cost_usd: z
    .number()
    .nonnegative()
    .nullable()
    .describe('List price of the tokens, in US dollars; null if the price of the model is unknown'),
};

export const usageResponseSchema = z.object({
  from: z.iso.date(),
  to: z.iso.date(),
  callers: z
    .array(
      z.object({
        caller: z.string(),
        ...amounts,
        days: z
          .array(z.object({ day: z.iso.date(), ...amounts }))
          .describe('Days with model calls, oldest first'),
      }),
    )
    .describe('Ordered by name'),
  next_after: z.string().nullable().describe('Value of after for the next page; null on the last page'),
});
apiNames.add(usageResponseSchema, { id: 'Usage' });
