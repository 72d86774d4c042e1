import { promptNames } from '../adapters/vision/prompt-variants.ts';
import { capturedWidthPixels, minPictureWidthPixels } from '../adapters/vision/picture-width.ts';
import { Option } from 'commander';
import type { Command } from 'commander';
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
  port: wholeNumber(0, 65_535)
    .prefault('8787')
    .register(help, { fallback: '8787', text: 'port to listen on; 0: a free one' }),
  host: z
    .string()
    .min(1)
    .prefault('127.0.0.1')
    .register(help, { fallback: '127.0.0.1', text: 'address to listen on' }),
  publicUrl: z
    .union([z.literal(''), z.url()])
    .prefault('')
    .register(help, {
      fallback: '',
      text: 'base URL for links in events, as callers use it; empty: http://HOST:PORT',
    }),
  allowedHosts: z
    .string()
    .transform((text) => text.split(',').flatMap((host) => host.trim().toLowerCase() || []))
    .pipe(
      z.array(
        z
          .string()
          .regex(
            /^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/,
            'must be host names without ports, such as watchpost.lan, with commas between them',
          ),
      ),
    )
    .prefault('')
    .register(help, {
      fallback: '',
      text: 'further accepted host names, separated by commas',
    }),
  allowedOrigins: z
    .string()
    .transform((text) => text.split(',').flatMap((origin) => origin.trim() || []))
    .pipe(
      z.array(
        z
          .string()
          .refine(
            isOrigin,
            'must be origins without a path, such as https://app.example.com, with commas between them',
          ),
      ),
    )
    .prefault('')
    .register(help, {
      fallback: '',
      text: 'origins of web pages that may call the API from a browser, separated by commas; empty: none',
    }),
  dataDir: z
    .string()
    .min(1)
    .prefault('.watchpost')
    .register(help, { fallback: '.watchpost', text: 'folder of database, media and keys' }),
  allowRanges: ranges().register(help, {
    fallback: '',
    text: 'private ranges that streams may use, separated by commas; empty: public addresses only',
  }),
  allowWebhookRanges: ranges().register(help, {
    fallback: '',
    text: 'private ranges that webhooks may use, separated by commas; empty: public addresses only',
  }),
  smtpUrl: z
    .union([z.literal(''), z.url({ protocol: /^smtps?$/ })])
    .prefault('')
    .register(help, {
      fallback: '',
      text: 'SMTP server of e-mail destinations, smtp:// or smtps:// with user and password; empty: none',
    }),
  emailFrom: z
    .string()
    .prefault('')
    .register(help, { fallback: '', text: 'sender of e-mail; required with an SMTP server' }),
  emailRecipients: z
    .string()
    .transform((text) => text.split(',').flatMap((recipient) => recipient.trim() || []))
    .prefault('')
    .register(help, {
      fallback: '',
      text: 'addresses, or domains such as @example.com, that e-mail may go to, separated by commas; empty: none',
    }),
  vision: z.enum(visionChoices).prefault('auto').register(help, {
    fallback: 'auto',
    text: 'model provider: objects (built in; pixel is the same), local (your files), bedrock (Amazon Bedrock), openai (any compatible server), or one behind a gate: objects+local, objects+bedrock, objects+openai; auto: objects, or only its measurements if its packages are missing',
  }),
  visionModel: z.string().prefault('').register(help, {
    fallback: '',
    text: 'model id for bedrock or openai, file (.gguf) for local; empty: the default of bedrock',
  }),
  projector: z
    .string()
    .prefault('')
    .register(help, { fallback: '', text: 'projector (mmproj, .gguf) of the local model' }),
  localThreads: wholeNumber(0, 512).prefault('0').register(help, {
    fallback: '0',
    text: 'processor threads of the local model; 0: all cores but one',
  }),
  localContext: wholeNumber(1024, 262_144)
    .prefault('8192')
    .register(help, { fallback: '8192', text: 'context of the local model, in tokens' }),
  localMemoryMb: wholeNumber(0, 10_000_000).prefault('0').register(help, {
    fallback: '0',
    text: 'maximum memory of the local model, in MB; 0: three quarters of the machine',
  }),
  localRuntime: z.string().prefault('').register(help, {
    fallback: '',
    text: 'folder in which llama.node is installed; empty: that of Watchpost',
  }),
  visionPrompt: z.enum(promptNames).prefault('verdict-first').register(help, {
    fallback: 'verdict-first',
    text: 'prompt of checks for local, bedrock and openai: verdict-first, evidence-first, strict, last-frame',
  }),
  visionWidth: wholeNumber(minPictureWidthPixels, capturedWidthPixels)
    .prefault(`${capturedWidthPixels}`)
    .register(help, {
      fallback: '896',
      text: 'maximum width of the frames that local, bedrock and openai receive for checks, in pixels; evidence keeps its width',
    }),
  openaiUrl: z.url().prefault('http://127.0.0.1:11434/v1').register(help, {
    fallback: 'http://127.0.0.1:11434/v1',
    text: 'base URL of the OpenAI-compatible server',
  }),
  openaiApiKey: z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]*$/, 'must be a key as the service shows it, without spaces, "…" and line ends')
    .prefault('')
    .register(help, { fallback: '', text: 'API key of the OpenAI-compatible server; empty: none' }),
  maxJobSeconds: wholeNumber(5, rules.maxJobDurationSeconds)
    .prefault('600')
    .register(help, { fallback: '600', text: 'maximum duration of a job, in seconds' }),
  jobsPerCaller: wholeNumber(1, 1000)
    .prefault('10')
    .register(help, { fallback: '10', text: 'maximum active jobs per caller' }),
  watchesPerCaller: wholeNumber(0, 10_000)
    .prefault(String(rules.maxWatchesPerCaller))
    .register(help, { fallback: String(rules.maxWatchesPerCaller), text: 'maximum watches per caller' }),
  // European guidance on video (EDPB 3/2019) asks for reasons beyond 72 hours.
  memoryDays: wholeNumber(0, maxMemoryDays).prefault('3').register(help, {
    fallback: '3',
    text: 'days for which a watch keeps judged pictures unless its memory_days says otherwise; 0: none',
  }),
  syncPerMinute: wholeNumber(0, 100_000).prefault('120').register(help, {
    fallback: '120',
    text: 'rate limit per caller, in calls per minute; 0: no limit',
  }),
  syncAtOnce: wholeNumber(0, 10_000)
    .prefault('10')
    .register(help, { fallback: '10', text: 'maximum concurrent calls per caller; 0: no limit' }),
  capturesAtOnce: wholeNumber(4, 10_000).prefault('128').register(help, {
    fallback: '128',
    text: 'maximum concurrent captures of jobs; calls have a quarter as many in addition',
  }),
  rtspSessions: wholeNumber(0, 10_000).prefault('300').register(help, {
    fallback: '300',
    text: 'maximum RTSP sessions that stay open between checks; 0: each capture opens its own',
  }),
  sharedDecoders: wholeNumber(0, 1).prefault('1').register(help, {
    fallback: '1',
    text: 'processes that stay decode the key frames of a caller; 0: a process for each capture',
  }),
  retentionSeconds: wholeNumber(60, rules.maxRetentionSeconds)
    .prefault('3600')
    .register(help, { fallback: '3600', text: 'retention of an ended job, in seconds' }),
  mediaMb: wholeNumber(0, 10_000_000).prefault('10000').register(help, {
    fallback: '10000',
    text: 'maximum size of stored frames and clips, in MB: pictures of moments, clips and then the oldest of the caller with the most are removed, those of open alerts kept; 0: no maximum',
  }),
  clipMb: wholeNumber(0, 1_000_000).prefault('128').register(help, {
    fallback: '128',
    text: 'maximum size of streams in memory for the clips of alerts, in MB: about 9 cameras of 4 Mbit/s in full; 0: no clips',
  }),
  modelGraceSeconds: wholeNumber(0, 86_400).prefault('300').register(help, {
    fallback: '300',
    text: 'time without an answer of the model after which a job fails, in seconds; at least five calls fail',
  }),
  eventStreamsPerCaller: wholeNumber(1, 1000)
    .prefault('10')
    .register(help, { fallback: '10', text: 'maximum open event streams per caller' }),
  youtubeClients: z
    .string()
    .transform((text) => text.split(',').flatMap((name) => name.trim().toUpperCase() || []))
    .pipe(
      z
        .array(z.string().regex(/^[A-Z_]+$/, 'must be names such as visionos,web'))
        .min(1, 'must name at least one'),
    )
    .prefault('visionos,web')
    .register(help, {
      fallback: 'visionos,web',
      text: 'YouTube clients to try in this order, by their names in youtubei.js',
    }),
  youtubeCookies: z.string().prefault('').register(help, {
    fallback: '',
    text: 'file with cookies of a YouTube account (cookies.txt); empty: no account',
  }),
  youtubeProxy: z
    .union([z.literal(''), z.url({ protocol: /^https?$/ })])
    .prefault('')
    .register(help, {
      fallback: '',
      text: 'HTTP proxy for YouTube, http://user:password@host:port; empty: none',
    }),
  youtubeUrl: z
    .url()
    .prefault('https://www.youtube.com')
    .register(help, { fallback: 'https://www.youtube.com', text: 'base URL of YouTube' }),
  twitchCookies: z.string().prefault('').register(help, {
    fallback: '',
    text: 'file with cookies of a Twitch account (cookies.txt); empty: no account',
  }),
  twitchProxy: z
    .union([z.literal(''), z.url({ protocol: /^https?$/ })])
    .prefault('')
    .register(help, {
      fallback: '',
      text: 'HTTP proxy for Twitch, http://user:password@host:port; empty: none',
    }),
  twitchGqlUrl: z.url().prefault('https://gql.twitch.tv/gql').register(help, {
    fallback: 'https://gql.twitch.tv/gql',
    text: 'URL of the Twitch interface for channels and access tokens',
  }),
  twitchUsherUrl: z
    .url()
    .prefault('https://usher.ttvnw.net')
    .register(help, { fallback: 'https://usher.ttvnw.net', text: 'base URL of Twitch playlists' }),
  ffmpeg: z
    .string()
    .prefault('')
    .register(help, { fallback: '', text: 'path of ffmpeg; empty: ffmpeg-static, then the PATH' }),
  logLevel: z
    .enum(['debug', 'info', 'warning', 'error'])
    .prefault('info')
    .register(help, { fallback: 'info', text: 'minimum level of log entries' }),
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

function wholeNumber(minimum: number, maximum: number) {
  return z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(minimum, `must be at least ${minimum}`).max(maximum, `must be at most ${maximum}`));
}

function ranges() {
  return z
    .string()
    .transform((text) => text.split(',').flatMap((range) => range.trim() || []))
    .pipe(
      z.array(
        z
          .string()
          .refine(
            isRange,
            'must be addresses such as 192.168.1.20 or CIDR ranges such as 192.168.1.0/24, with commas between them',
          ),
      ),
    )
    .prefault('');
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
