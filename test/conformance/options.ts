import { parseArgs } from 'node:util';
import { z } from 'zod';

/** Help text of the command. */
export const usage = `Verifies a service against the interface, from outside.

  npm run conformance -- --base-url URL --key KEY [options]

  --base-url URL         address of the service with base path: http://127.0.0.1:8787/api
  --key KEY              API key of a caller without active jobs; repeat it for more callers (some cases
                         require a second one)
  --internal-key KEY     key with internal access, for /metrics and /logs
  --only TEXT            cases whose id contains the text, or that cover this statement (I-4.2.7); repeatable
  --skip ID              case to omit; repeatable
  --list                 list the cases without running them
  --statements           list the statements of the interface with their decisions, cases and tests; --only selects by
                         beginning of the id (I-4.2) or by text
  --json                 one JSON document instead of lines
  --at-once COUNT        maximum concurrent cases (default: 24)
  --retry                run a failed case once more when all others have ended
  --slow                 include cases that take minutes
  --interface-only       omit cases that the interface leaves open and this project decided

For a service on loopback the suite brings live streams (ffmpeg) and a webhook receiver; the service must be allowed to reach
them (WATCHPOST_ALLOW_RANGES=127.0.0.0/8 WATCHPOST_ALLOW_WEBHOOK_RANGES=127.0.0.0/8). For any other service:

  --stream-url URL       live stream with constant motion
  --rtsp-url URL         live RTSP stream
  --vod-url URL          recording
  --platform-url URL     live stream of a platform; repeatable
  --receiver-url URL     public address that forwards to --receiver-port on this machine
  --receiver-port PORT   loopback port of the receiver
  --holds TEXT           condition that always holds in the stream (default: "The picture is not black")
  --fails TEXT           condition that never holds (default: "The picture is entirely black")
  --retention SECONDS    retention of the service, 30 to 120
  --ffmpeg PATH          ffmpeg for the streams (default: the one in the PATH)
`;

const optionsSchema = z.object({
  'base-url': z.url().transform((url) => url.replace(/\/+$/, '')),
  key: z.array(z.string().min(1)).min(1),
  'internal-key': z.string().min(1).optional(),
  only: z.array(z.string().min(1)).default([]),
  skip: z.array(z.string().min(1)).default([]),
  list: z.boolean().default(false),
  statements: z.boolean().default(false),
  json: z.boolean().default(false),
  'at-once': z.coerce.number().int().min(1).max(100).default(24),
  retry: z.boolean().default(false),
  slow: z.boolean().default(false),
  'interface-only': z.boolean().default(false),
  'stream-url': z.string().optional(),
  'rtsp-url': z.string().optional(),
  'vod-url': z.string().optional(),
  'platform-url': z.array(z.string()).default([]),
  'receiver-url': z.url().optional(),
  'receiver-port': z.coerce.number().int().min(0).max(65_535).optional(),
  holds: z.string().default('The picture is not black'),
  fails: z.string().default('The picture is entirely black'),
  retention: z.coerce.number().min(30).max(120).optional(),
  ffmpeg: z.string().default(process.env['WATCHPOST_FFMPEG'] || 'ffmpeg'),
});

/** Parsed command line. */
export type Options = z.infer<typeof optionsSchema>;

/** Invalid command line; the message contains the fault. */
export class UsageError extends Error {}

/** Parses the command line. Throws `UsageError`. */
export function readOptions(args: string[]): Options {
  const result = optionsSchema.safeParse(parsed(args));
  if (result.success) return result.data;
  throw new UsageError(z.prettifyError(result.error));
}

function parsed(args: string[]) {
  const text = { type: 'string' } as const;
  const texts = { type: 'string', multiple: true } as const;
  const flag = { type: 'boolean' } as const;
  try {
    const { values } = parseArgs({
      args,
      options: {
        'base-url': text,
        key: texts,
        'internal-key': text,
        only: texts,
        skip: texts,
        list: flag,
        statements: flag,
        json: flag,
        'at-once': text,
        retry: flag,
        slow: flag,
        'interface-only': flag,
        'stream-url': text,
        'rtsp-url': text,
        'vod-url': text,
        'platform-url': texts,
        'receiver-url': text,
        'receiver-port': text,
        holds: text,
        fails: text,
        retention: text,
        ffmpeg: text,
      },
    });
    return values.list || values.statements
      ? { 'base-url': 'http://127.0.0.1', key: ['none'], ...values }
      : values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
