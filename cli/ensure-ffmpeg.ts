import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { once } from 'node:events';
import { FfmpegMissingError } from '../adapters/media/ffmpeg/errors.ts';
import { locateFfmpeg, type LocatedFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import type { Terminal } from './terminal.ts';

const aptGet = '/usr/bin/apt-get';

/**
 * Finds ffmpeg (setting, ffmpeg-static, PATH). If it is missing, installs it on Debian and Ubuntu as root after a note.
 * Otherwise throws `FfmpegMissingError` with the command to run.
 */
export async function ensureFfmpeg(
  setting: string,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<LocatedFfmpeg> {
  try {
    return await locateFfmpeg({ setting, env });
  } catch (error) {
    if (!(error instanceof FfmpegMissingError) || setting !== '' || !(await canInstall())) throw error;
    terminal.note(
      `${error.message}. Installing it with "apt-get install -y ffmpeg" (Debian or Ubuntu, as root).`,
    );
    await install(terminal);
    return locateFfmpeg({ setting, env });
  }
}

async function canInstall(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  return access(aptGet, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function install(terminal: Terminal): Promise<void> {
  const waiting = terminal.waiting('Installing ffmpeg; this takes a minute');
  try {
    await aptGetRuns(['update']);
    await aptGetRuns(['install', '-y', '--no-install-recommends', 'ffmpeg']);
  } finally {
    waiting.done();
  }
}

async function aptGetRuns(args: string[]): Promise<void> {
  const child = spawn(aptGet, ['-q', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  await once(child, 'exit');
  if (child.exitCode !== 0) {
    throw new FfmpegMissingError(
      `apt-get ${args[0]} ended with ${child.exitCode ?? child.signalCode}`,
      'Install ffmpeg ("apt-get install -y ffmpeg"), or set WATCHPOST_FFMPEG=/path/to/ffmpeg.',
    );
  }
}
