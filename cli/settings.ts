import { promptNames } from '../adapters/vision/prompt-variants.ts';
import { capturedWidthPixels, minPictureWidthPixels } from '../adapters/vision/picture-width.ts';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { createAddressRule } from '../adapters/egress/address-rule.ts';
import { isOrigin } from '../adapters/http/cors.ts';
import { maxMemoryDays } from '../core/records/moment.ts';
import { rules } from '../core/rules.ts';

/**
 * Settings of the embedded service: one list for flags, `WATCHPOST_*` variables, help and
 * docs/operate/configuration.md.
 */

const help = z.registry<{ fallback: string; text: string }>();

/** Providers of models that are not built in. */
const openProviders = ['local', 'bedrock', 'openai'] as const;
/** Models behind a gate of the built-in one. */
const gatedProviders = openProviders.map((name) => `objects+${name}` as const);
const visionChoices = ['auto', 'objects', 'pixel', ...openProviders, ...gatedProviders] as const;

const settingsSchema = z.object({
  port: setting(wholeNumber(0, 65_535), '8787', 'port to listen on; 0: a free one'),
  host: setting(z.string().min(1), '127.0.0.1', 'address to listen on'),
  publicUrl: setting(
    z.union([z.literal(''), z.url()]),
    '',
    'base URL for links in events, as callers use it; empty: http://HOST:PORT',
  ),
  allowedHosts: setting(
    words((word) => word.toLowerCase()).pipe(
      z.array(
        z
          .string()
          .regex(
            /^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/,
            'must be host names without ports, such as watchpost.lan, with commas between them',
          ),
      ),
    ),
    '',
    'further accepted host names, separated by commas',
  ),
  allowedOrigins: setting(
    words().pipe(
      z.array(
        z
          .string()
          .refine(
            isOrigin,
            'must be origins without a path, such as https://app.example.com, with commas between them',
          ),
      ),
    ),
    '',
    'origins of web pages that may call the API from a browser, separated by commas; empty: none',
  ),
  dataDir: setting(z.string().min(1), '.watchpost', 'folder of database, media and keys'),
  allowRanges: setting(
    ranges(),
    '',
    'private ranges that streams may use, separated by commas; empty: public addresses only',
  ),
  allowWebhookRanges: setting(
    ranges(),
    '',
    'private ranges that webhooks may use, separated by commas; empty: public addresses only',
  ),
  smtpUrl: setting(
    z.union([z.literal(''), z.url({ protocol: /^smtps?$/ })]),
    '',
    'SMTP server of e-mail destinations, smtp:// or smtps:// with user and password; empty: none',
  ),
  emailFrom: setting(z.string(), '', 'sender of e-mail; required with an SMTP server'),
  emailRecipients: setting(
    words(),
    '',
    'addresses, or domains such as @example.com, that e-mail may go to, separated by commas; empty: none',
  ),
  vision: setting(
    z.enum(visionChoices),
    'auto',
    'model provider: objects (built in; pixel is the same), local (your files), bedrock (Amazon Bedrock), openai (any compatible server), or one behind a gate: objects+local, objects+bedrock, objects+openai; auto: objects, or only its measurements if its packages are missing',
  ),
  visionModel: setting(
    z.string(),
    '',
    'model id for bedrock or openai, file (.gguf) for local; empty: the default of bedrock',
  ),
  projector: setting(z.string(), '', 'projector (mmproj, .gguf) of the local model'),
  localThreads: setting(
    wholeNumber(0, 512),
    '0',
    'processor threads of the local model; 0: all cores but one',
  ),
  localContext: setting(wholeNumber(1024, 262_144), '8192', 'context of the local model, in tokens'),
  localMemoryMb: setting(
    wholeNumber(0, 10_000_000),
    '0',
    'maximum memory of the local model, in MB; 0: three quarters of the machine',
  ),
  localRuntime: setting(z.string(), '', 'folder in which llama.node is installed; empty: that of Watchpost'),
  visionPrompt: setting(
    z.enum(promptNames),
    'verdict-first',
    'prompt of checks for local, bedrock and openai: verdict-first, evidence-first, strict, last-frame',
  ),
  visionWidth: setting(
    wholeNumber(minPictureWidthPixels, capturedWidthPixels),
    `${capturedWidthPixels}`,
    'maximum width of the frames that local, bedrock and openai receive for checks, in pixels; evidence keeps its width',
  ),
  openaiUrl: setting(z.url(), 'http://127.0.0.1:11434/v1', 'base URL of the OpenAI-compatible server'),
  openaiApiKey: setting(
    z
      .string()
      .trim()
      .regex(/^[\x21-\x7e]*$/, 'must be a key as the service shows it, without spaces, "…" and line ends'),
    '',
    'API key of the OpenAI-compatible server; empty: none',
  ),
  maxJobSeconds: setting(
    wholeNumber(5, rules.maxJobDurationSeconds),
    '600',
    'maximum duration of a job, in seconds',
  ),
  jobsPerCaller: setting(wholeNumber(1, 1000), '10', 'maximum active jobs per caller'),
  watchesPerCaller: setting(
    wholeNumber(0, 10_000),
    String(rules.maxWatchesPerCaller),
    'maximum watches per caller',
  ),
  // European guidance on video (EDPB 3/2019) asks for reasons beyond 72 hours.
  memoryDays: setting(
    wholeNumber(0, maxMemoryDays),
    '3',
    'days for which a watch keeps judged pictures unless its memory_days says otherwise; 0: none',
  ),
  syncPerMinute: setting(
    wholeNumber(0, 100_000),
    '120',
    'rate limit per caller, in calls per minute; 0: no limit',
  ),
  syncAtOnce: setting(wholeNumber(0, 10_000), '10', 'maximum concurrent calls per caller; 0: no limit'),
  capturesAtOnce: setting(
    wholeNumber(4, 10_000),
    '128',
    'maximum concurrent captures of jobs; calls have a quarter as many in addition',
  ),
  rtspSessions: setting(
    wholeNumber(0, 10_000),
    '300',
    'maximum RTSP sessions that stay open between checks; 0: each capture opens its own',
  ),
  sharedDecoders: setting(
    wholeNumber(0, 1),
    '1',
    'processes that stay decode the key frames of a caller; 0: a process for each capture',
  ),
  retentionSeconds: setting(
    wholeNumber(60, rules.maxRetentionSeconds),
    '3600',
    'retention of an ended job, in seconds',
  ),
  mediaMb: setting(
    wholeNumber(0, 10_000_000),
    '10000',
    'maximum size of stored frames and clips, in MB: pictures of moments, clips and then the oldest of the caller with the most are removed, those of open alerts kept; 0: no maximum',
  ),
  clipMb: setting(
    wholeNumber(0, 1_000_000),
    '128',
    'maximum size of streams in memory for the clips of alerts, in MB: about 5 cameras of 4 Mbit/s in full; 0: no clips',
  ),
  modelGraceSeconds: setting(
    wholeNumber(0, 86_400),
    '300',
    'time without an answer of the model after which a job fails, in seconds; at least five calls fail',
  ),
  eventStreamsPerCaller: setting(wholeNumber(1, 1000), '10', 'maximum open event streams per caller'),
  youtubeClients: setting(
    words((word) => word.toUpperCase()).pipe(
      z
        .array(z.string().regex(/^[A-Z_]+$/, 'must be names such as visionos,web'))
        .min(1, 'must name at least one'),
    ),
    'visionos,web',
    'YouTube clients to try in this order, by their names in youtubei.js',
  ),
  youtubeCookies: setting(
    z.string(),
    '',
    'file with cookies of a YouTube account (cookies.txt); empty: no account',
  ),
  youtubeProxy: setting(
    z.union([z.literal(''), z.url({ protocol: /^https?$/ })]),
    '',
    'HTTP proxy for YouTube, http://user:password@host:port; empty: none',
  ),
  youtubeUrl: setting(z.url(), 'https://www.youtube.com', 'base URL of YouTube'),
  twitchCookies: setting(
    z.string(),
    '',
    'file with cookies of a Twitch account (cookies.txt); empty: no account',
  ),
  twitchProxy: setting(
    z.union([z.literal(''), z.url({ protocol: /^https?$/ })]),
    '',
    'HTTP proxy for Twitch, http://user:password@host:port; empty: none',
  ),
  twitchGqlUrl: setting(
    z.url(),
    'https://gql.twitch.tv/gql',
    'URL of the Twitch interface for channels and access tokens',
  ),
  twitchUsherUrl: setting(z.url(), 'https://usher.ttvnw.net', 'base URL of Twitch playlists'),
  ffmpeg: setting(z.string(), '', 'path of ffmpeg; empty: ffmpeg-static, then the PATH'),
  logLevel: setting(z.enum(['debug', 'info', 'warning', 'error']), 'info', 'minimum level of log entries'),
});

export type Settings = z.infer<typeof settingsSchema>;
export type SettingName = keyof Settings;

export const settingNames = settingsSchema.keyof().options;

/** Invalid settings; the message names each with its variable. */
export class SettingsError extends Error {}

/** Second flags of settings, by their name. */
const secondFlags: Partial<Record<string, string>> = { visionModel: '--model' };

/**
 * Adds settings to a command as flags. Flags win over variables, variables over defaults. A command with an own
 * `--model` has no `second` flags.
 */
export function addSettings(
  command: Command,
  names: readonly SettingName[],
  { second = true } = {},
): Command {
  for (const { name, flag, variable, fallback, text } of listSettings()) {
    if (!names.some((wanted) => wanted === name)) continue;
    const short = second ? secondFlags[name] : undefined;
    command.addOption(
      new Option(
        `${short === undefined ? '' : `${short}, `}${flag} <value>`,
        `${text} (${variable}${fallback ? `, default ${fallback}` : ''})`,
      ),
    );
  }
  return command;
}

/** Reads settings from a command's flags and the environment. Throws `SettingsError`. */
export function readSettings(flags: Record<string, unknown>, env: NodeJS.ProcessEnv): Settings {
  const given = listSettings().map(({ name, variable }) => [name, flags[name] ?? env[variable]]);
  const parsed = settingsSchema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  throw new SettingsError(parsed.error.issues.map(complaint).join('\n'));
}

/** Returns every setting with its names, default and text, for help and documentation. */
export function listSettings() {
  return Object.entries(settingsSchema.shape).map(([name, schema]) => {
    const { fallback = '', text = '' } = help.get(schema) ?? {};
    return { name, flag: `--${kebab(name)}`, variable: toVariable(name), fallback, text, schema };
  });
}

function complaint(issue: z.core.$ZodIssue): string {
  const name = String(issue.path[0]);
  return `${toVariable(name)} (--${kebab(name)}): ${issue.message}`;
}

/** Returns a setting with its default and the text of its help. */
function setting<Schema extends z.ZodType<unknown, string>>(
  schema: Schema,
  fallback: z.input<Schema>,
  text: string,
) {
  const described = schema.prefault(fallback);
  help.add(described, { fallback, text });
  return described;
}

/** Returns the schema of a list with commas between its words. */
function words(change = (word: string) => word) {
  return z.string().transform((text) => text.split(',').flatMap((word) => change(word.trim()) || []));
}

function wholeNumber(minimum: number, maximum: number) {
  return z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(minimum, `must be at least ${minimum}`).max(maximum, `must be at most ${maximum}`));
}

function ranges() {
  return words().pipe(
    z.array(
      z
        .string()
        .refine(
          isRange,
          'must be addresses such as 192.168.1.20 or CIDR ranges such as 192.168.1.0/24, with commas between them',
        ),
    ),
  );
}

/** Returns true for a range and for the address of a host. "10.0.0.0" is a network whose length is missing. */
function isRange(text: string): boolean {
  try {
    createAddressRule([text]);
    return text.includes('/') || !/(?:\.0|::)$/.test(text);
  } catch {
    return false;
  }
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function toVariable(name: string): string {
  return `WATCHPOST_${kebab(name).replaceAll('-', '_').toUpperCase()}`;
}
