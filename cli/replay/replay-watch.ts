import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import type { InputMode } from '../../core/records/capture.ts';
import type { Watch } from '../../core/records/watch.ts';
import { watchRequestSchema, type WatchRequest } from '../../core/requests/watches.ts';
import { CommandError } from '../command-error.ts';

/** Rules of a replay: a watch in a file, or conditions with the defaults of a watch. */
export type ReplayRules = {
  watchFile: string | undefined;
  conditionsFile: string | undefined;
  conditions: string[];
};

/** Settings that replace those of the watch; `undefined` leaves them. */
export type ReplaySettings = {
  interval: number | undefined;
  mode: InputMode | undefined;
  clipSeconds: number | undefined;
  prefilter: boolean | undefined;
};

/** A watch for a replay needs neither name nor stream. */
const defaults = { name: 'Replay', stream_url: 'https://recording.invalid/live.m3u8' };

/** Reads the rules of a replay. Throws `CommandError` with the invalid field. */
export async function readReplayRequest({
  watchFile,
  conditionsFile,
  conditions,
}: ReplayRules): Promise<WatchRequest> {
  const fromFile = watchFile === undefined ? {} : await readObject(watchFile);
  const listed = conditionsFile === undefined ? [] : await readConditions(conditionsFile);
  const texts = [...listed, ...conditions].map((condition) => ({ condition }));
  const body = { ...defaults, ...fromFile, ...(texts.length > 0 ? { conditions: texts } : {}) };
  if (!('conditions' in body))
    throw new CommandError(
      'A replay needs a condition.',
      'Use --condition TEXT, --conditions FILE or --watch FILE.',
    );
  const parsed = watchRequestSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CommandError(
    `The watch is not valid: ${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}.`,
    'docs/use/watches.md has the fields of a watch.',
  );
}

/**
 * Creates the watch of a replay that begins at `now`. Schedule, budget and destinations of the request do not apply to
 * recordings.
 */
export function createReplayWatch(request: WatchRequest, settings: ReplaySettings, now: Date): Watch {
  const interval = settings.interval ?? request.interval_seconds;
  const created = now.toISOString();
  return {
    run_id: randomUUID(),
    policy: 'watch',
    caller: 'operator',
    created_at: created,
    updated_at: created,
    config_version: 1,
    stream_url: request.stream_url,
    stream_fingerprint: null,
    source_id: randomUUID(),
    stream_phase: null,
    config: {
      ...request,
      interval_seconds: interval,
      confirm_seconds: Math.min(request.confirm_seconds, interval),
      input_mode: settings.mode ?? request.input_mode,
      clip_duration_seconds: settings.clipSeconds ?? request.clip_duration_seconds,
      enable_prefilter: settings.prefilter ?? request.enable_prefilter,
      conditions: request.conditions.map((condition, index) => ({
        ...condition,
        condition_id: condition.condition_id ?? `condition-${index + 1}`,
      })),
      schedule: null,
      budget: null,
      destinations: [],
      memory_days: 0,
      evidence_clip: null,
    },
  };
}

async function readObject(file: string): Promise<Record<string, unknown>> {
  const value = z.record(z.string(), z.unknown()).safeParse(await readData(file));
  if (value.success) return value.data;
  throw new CommandError(
    `${file} does not contain a watch.`,
    'Write one as JSON or YAML, as for POST /watches.',
  );
}

/** Reads a list of conditions, or one per line. */
async function readConditions(file: string): Promise<string[]> {
  const text = await readText(file);
  const list = z.array(z.string()).safeParse(tryParse(text));
  const lines = list.success ? list.data : text.split(/\r?\n/);
  const conditions = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  if (conditions.length > 0) return conditions;
  throw new CommandError(`${file} contains no condition.`, 'Write one condition per line.');
}

async function readData(file: string): Promise<unknown> {
  return tryParse(await readText(file));
}

function tryParse(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CommandError(`${file} cannot be read.`, 'Check the path and the permissions.', { cause });
  });
}
