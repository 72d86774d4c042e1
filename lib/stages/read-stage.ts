import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { stageSettingsSchema, type StageSettings } from './stage-settings.ts';

/** Invalid stage; the message contains file and error. */
export class StageError extends Error {}

export type Stage = { name: string; settings: StageSettings };

const stageName = z.string().regex(/^[a-z][a-z0-9-]{0,15}$/, {
  error: 'must be 1 to 16 lower-case letters, digits or hyphens and start with a letter',
});

/** Reads and validates `<directory>/<name>.json`. Throws `StageError`. */
export function readStage(name: unknown, directory: string): Stage {
  const parsedName = stageName.safeParse(name);
  if (!parsedName.success) throw new StageError(`Stage name ${z.prettifyError(parsedName.error)}`);
  const file = join(directory, `${parsedName.data}.json`);
  if (!existsSync(file))
    throw new StageError(`File not found: ${file}. Create it; an empty object ({}) uses the defaults.`);
  return { name: parsedName.data, settings: parseSettings(readFileSync(file, 'utf8'), file) };
}

function parseSettings(text: string, file: string): StageSettings {
  const parsed = stageSettingsSchema.safeParse(json(text, file));
  if (parsed.success) return parsed.data;
  throw new StageError(`${file}:\n${z.prettifyError(parsed.error)}`);
}

function json(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StageError(`${file} is not valid JSON: ${String(error)}`);
  }
}
