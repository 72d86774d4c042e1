import type { JobConfig } from '../api/types.ts';
import { duration } from '../time/format.ts';

/** Returns the configuration of a job as readable names and values: "Trigger cooldown", "30 s". */
export function configLabels(config: JobConfig): [name: string, value: string][] {
  // A copy, because the entries of an interface have the type any.
  return Object.entries({ ...config })
    .filter(([name]) => name !== 'clip_duration_seconds' || !onlyFrames(config))
    .map(([name, value]) => [nameWords(name), valueWords(name, value)]);
}

/** Returns true if the job captures no clip; the configuration has a clip length anyway. */
function onlyFrames(config: JobConfig): boolean {
  return 'input_mode' in config && config.input_mode === 'frames';
}

function nameWords(name: string): string {
  const words = name.replace(/^enable_|_(?:seconds|minutes)$/g, '').replaceAll('_', ' ');
  return (words.charAt(0).toUpperCase() + words.slice(1)).replace(/ url$/, ' URL');
}

function valueWords(name: string, value: string | number | boolean | string[] | null | undefined): string {
  if (value === null || value === undefined) return 'No limit';
  if (typeof value === 'boolean') return value ? 'On' : 'Off';
  if (Array.isArray(value)) return value.join(', ').replaceAll('_', ' ');
  if (typeof value === 'string') return value;
  if (name.endsWith('_seconds')) return duration(value);
  return name.endsWith('_minutes') ? duration(value * 60) : value.toLocaleString();
}
