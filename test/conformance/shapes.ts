import { z } from 'zod';

/**
 * Shapes of the interface (I-2.1.1 and those that follow), from the document alone. Additional members are permitted.
 */

export const jobStatus = z.enum(['pending', 'running', 'stopped', 'completed', 'failed']);

export const jobDetail = z.looseObject({
  job_id: z.uuid(),
  status: jobStatus,
  job_type: z.enum(['live-monitor', 'live-digest']),
  created_at: z.string().min(1),
  stream_url: z.string().min(1),
  config: z.looseObject({}).optional(),
  stats: z
    .looseObject({
      reason: z.string().optional(),
      checks_performed: z.int().optional(),
      triggers_fired: z.int().optional(),
      frames_skipped: z.int().optional(),
      auto_stopped: z.boolean().optional(),
      watch_duration_seconds: z.number().optional(),
    })
    .optional(),
});

export const jobCreated = z.looseObject({
  job_id: z.uuid(),
  status: jobStatus,
  created_at: z.string().min(1),
  stream_url: z.string().min(1),
  job_type: z.enum(['live-monitor', 'live-digest']),
  details: z.looseObject({}),
  message: z.string().optional(),
});

export const jobList = z.looseObject({
  jobs: z.array(jobCreated),
  total: z.int().nonnegative(),
  limit: z.int(),
  offset: z.int(),
});

export const cancelled = z.looseObject({
  job_id: z.uuid(),
  status: jobStatus,
  message: z.string(),
  final_stats: z.looseObject({}),
});

export const checkAnswer = z.looseObject({
  triggered: z.boolean(),
  explanation: z.string().min(1),
  latency_ms: z.int().nonnegative(),
  frame_b64: z.string().optional(),
});

export const frameAnswer = z.looseObject({
  answer: z.string().min(1),
  triggered: z.boolean().nullable(),
  latency_ms: z.int().nonnegative(),
  frame_b64: z.string().nullish(),
});

export const validation = z.looseObject({
  is_live: z.boolean(),
  platform: z.string().optional(),
  stream_id: z.string().optional(),
  title: z.string().optional(),
  channel: z.string().optional(),
  thumbnail_url: z.string().optional(),
  viewer_count: z.int().optional(),
  parsed_url: z.string().optional(),
  error_hint: z.string().optional(),
});

export const errorEnvelope = z.strictObject({
  error: z.looseObject({
    code: z.string().regex(/^[A-Z][A-Z_]*$/),
    message: z.string().min(1),
    remediation: z.string().min(1),
  }),
});

export const validationError = z.looseObject({
  detail: z
    .array(
      z.looseObject({
        loc: z.array(z.union([z.string(), z.int()])).min(1),
        msg: z.string().min(1),
        type: z.string().min(1),
        ctx: z.looseObject({}).optional(),
      }),
    )
    .min(1),
});

export const metrics = z.looseObject({
  started_at: z.string().min(1),
  providers: z.record(
    z.string(),
    z.looseObject({ calls: z.int().nonnegative(), errors: z.int().nonnegative() }),
  ),
  jobs: z.looseObject({
    created: z.int().nonnegative(),
    completed: z.int().nonnegative(),
    failed: z.int().nonnegative(),
  }),
  frames: z.looseObject({
    captured: z.int().nonnegative(),
    skipped_prefilter: z.int().nonnegative(),
  }),
  webhooks: z.looseObject({ sent: z.int().nonnegative(), failed: z.int().nonnegative() }),
});

export const logs = z.looseObject({
  total_in_buffer: z.int().nonnegative(),
  returned: z.int().nonnegative(),
  logs: z.array(
    z.looseObject({
      time: z.string().min(1),
      level: z.enum(['DEBUG', 'INFO', 'WARNING', 'ERROR']),
      message: z.string(),
    }),
  ),
});

/** Section 6.1: these four and no more. */
export const webhookEnvelope = z.strictObject({
  type: z.enum(['job_started', 'watch_triggered', 'summary_generated', 'job_stopped', 'error']),
  timestamp: z.iso.datetime({ offset: true }),
  source_url: z.string().min(1),
  data: z.looseObject({}),
});

export const jpegBase64 = z.base64().refine((text) => text.startsWith('/9j/'), 'should be a base64 JPEG');

export const triggeredData = z.looseObject({
  condition: z.string().min(1),
  triggered: z.literal(true),
  explanation: z.string().min(1),
  prefilter_skipped: z.boolean(),
  frame_b64: jpegBase64,
});

export const stoppedData = z.looseObject({
  job_id: z.uuid(),
  status: z.enum(['stopped', 'completed', 'failed']),
  checks_performed: z.int().nonnegative(),
  triggers_fired: z.int().nonnegative(),
  frames_skipped: z.int().nonnegative(),
  auto_stopped: z.boolean(),
  reason: z.string().min(1),
  watch_duration_seconds: z.number().nonnegative(),
});
