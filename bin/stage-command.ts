import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readStage } from '../lib/stages/read-stage.ts';
import type { StageSettings } from '../lib/stages/stage-settings.ts';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Stage of a command for its stack, which passes its own arguments on to the CDK. */
export type StageCommand = {
  stack: string;
  settings: StageSettings;
  isForced: boolean;
  /** Region of the stage, and account that the CDK uses. */
  aws: { region?: string; profile?: string };
  /** Runs the CDK, and returns its exit code. */
  runCdk: (...words: string[]) => Promise<number>;
};

/** Runs the command of a stage, and ends with the exit code that it returns, or with 1 and the message of its error. */
export async function runForStage(run: (command: StageCommand) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await run(readCommand());
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

function readCommand(): StageCommand {
  const args = process.argv.slice(2);
  const { context, profile, force } = parseArgs({
    args,
    options: {
      context: { type: 'string', short: 'c', multiple: true, default: [] },
      profile: { type: 'string' },
      force: { type: 'boolean', short: 'f', default: false },
    },
    strict: false,
  }).values;
  const pairs = new Map(
    [context ?? []].flat().map((pair) => [String(pair).split('=')[0], String(pair).split('=')[1]]),
  );
  const { name, settings } = readStage(
    pairs.get('stage') ?? 'dev',
    pairs.get('stages') ?? `${root}lib/stages`,
  );
  const { region } = settings;
  return {
    stack: `Watchpost-${name}`,
    settings,
    isForced: force === true,
    aws: { ...(region && { region }), ...(typeof profile === 'string' && { profile }) },
    runCdk: async (...words) => {
      const cdk = spawn('cdk', [...words, ...args], { stdio: 'inherit', cwd: root });
      await once(cdk, 'exit');
      return cdk.exitCode ?? 1;
    },
  };
}
