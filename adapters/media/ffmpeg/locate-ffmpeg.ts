import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { FfmpegMissingError } from './errors.ts';

/** Usable ffmpeg: its path, its origin and its version. */
export type LocatedFfmpeg = { path: string; source: 'setting' | 'ffmpeg-static' | 'PATH'; version: string };

export type LocateOptions = {
  /** Path from the settings. If it is set, no other candidate is tried. */
  setting?: string | undefined;
  /** Environment. `FFMPEG_BIN` overrides the packaged path, as in ffmpeg-static; `PATH` is searched. */
  env: Readonly<Record<string, string | undefined>>;
  /** Loads the optional package. Its default export is a path or null. */
  importStatic?: () => Promise<unknown>;
};

/**
 * Finds an ffmpeg with all required features: from the setting, then ffmpeg-static, then `PATH`. Throws
 * `FfmpegMissingError`, whose remediation lists install commands.
 */
export async function locateFfmpeg(options: LocateOptions): Promise<LocatedFfmpeg> {
  if (options.setting !== undefined && options.setting !== '') {
    const inspected = await inspect(options.setting);
    if ('unfit' in inspected) throw missing(`The configured ffmpeg cannot be used: ${inspected.unfit}`);
    return { path: options.setting, source: 'setting', version: inspected.version };
  }
  const tried: string[] = [];
  for (const candidate of await candidates(options)) {
    const inspected = await inspect(candidate.path);
    if ('version' in inspected) return { ...candidate, version: inspected.version };
    tried.push(`${candidate.path}: ${inspected.unfit}`);
  }
  throw missing(
    tried.length === 0 ? 'ffmpeg was not found' : `No usable ffmpeg was found (${tried.join('; ')})`,
  );
}

async function candidates(options: LocateOptions): Promise<Omit<LocatedFfmpeg, 'version'>[]> {
  const packaged =
    options.env['FFMPEG_BIN'] ?? (await packagedPath(options.importStatic ?? importFfmpegStatic));
  const onPath = await searchPath(options.env['PATH'] ?? '');
  return [
    ...(packaged === null ? [] : [{ path: packaged, source: 'ffmpeg-static' as const }]),
    ...(onPath === null ? [] : [{ path: onPath, source: 'PATH' as const }]),
  ];
}

const packageSchema = z.object({ default: z.string() });

/**
 * The package is an optional dependency. It is absent after a failed download, and exports null on unsupported
 * platforms.
 */
async function packagedPath(importStatic: () => Promise<unknown>): Promise<string | null> {
  const imported = packageSchema.safeParse(await importStatic().catch(() => null));
  return imported.success ? imported.data.default : null;
}

/** The variable keeps the compiler from resolving a package that may be absent. */
function importFfmpegStatic(): Promise<unknown> {
  const name: string = 'ffmpeg-static';
  return import(name);
}

/** Returns an absolute path, because ffmpeg runs with an empty environment. */
async function searchPath(path: string): Promise<string | null> {
  for (const directory of path.split(delimiter).filter(Boolean)) {
    const file = join(directory, process.platform === 'win32' ? 'ffmpeg.exe' : 'ffmpeg');
    const runnable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runnable) return file;
  }
  return null;
}

/** Minimum version, which introduced `-fps_mode`. Development builds have no version number and are accepted. */
const minVersion = { major: 5, minor: 1 };
const neededEncoders = ['libx264', 'mjpeg', 'rawvideo'];

/** It takes 0.1 s; on a machine that is busy, much longer. */
const timeoutMs = 60_000;

/** One run prints both: encoders on stdout, the version banner on stderr. */
async function inspect(path: string): Promise<{ version: string } | { unfit: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(path, ['-encoders'], {
      env: {},
      timeout: timeoutMs,
    });
    const version = /^ffmpeg version (\S+)/m.exec(stderr)?.[1];
    if (version === undefined) return { unfit: 'its output has no ffmpeg version' };
    if (isTooOld(version)) return { unfit: `version ${version} is older than 5.1` };
    const lacking = neededEncoders.filter((encoder) => !new RegExp(`^ \\S+ ${encoder} `, 'm').test(stdout));
    return lacking.length > 0 ? { unfit: `it was built without ${lacking.join(', ')}` } : { version };
  } catch (error) {
    const isLate = error instanceof Error && 'killed' in error && error.killed === true;
    return { unfit: isLate ? `it gives no answer within ${timeoutMs / 1000} s` : 'it does not run' };
  }
}

function isTooOld(version: string): boolean {
  const [, major, minor] = /^n?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return false;
  return (
    Number(major) < minVersion.major ||
    (Number(major) === minVersion.major && Number(minor) < minVersion.minor)
  );
}

function missing(message: string): FfmpegMissingError {
  return new FfmpegMissingError(
    message,
    [
      'Install ffmpeg 5.1 or newer with libx264:',
      'on Debian or Ubuntu `apt-get update && apt-get install -y ffmpeg`,',
      'on macOS `brew install ffmpeg`,',
      'elsewhere from https://ffmpeg.org/download.html.',
      'Or set the path of an installed one: WATCHPOST_FFMPEG=/path/to/ffmpeg, or --ffmpeg /path/to/ffmpeg.',
    ].join(' '),
  );
}
