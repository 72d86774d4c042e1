import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient } from '@aws-sdk/client-sfn';
import { endRuns } from '../lib/operations/teardown/end-runs.ts';
import { readStage } from '../lib/stages/read-stage.ts';

/**
 * `npm run destroy -- -c stage=NAME [--force] [options of cdk destroy]` ends the runs of a stage and removes its stack. It asks before it begins, unless `--force` is given. Exit code:
 * that of the CDK, or 1 for a protected stack.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const { values } = parseArgs({
  args,
  options: {
    context: { type: 'string', short: 'c', multiple: true, default: [] },
    profile: { type: 'string' },
    force: { type: 'boolean', short: 'f', default: false },
  },
  strict: false,
});
const context = new Map(
  [values.context ?? []].flat().map((pair) => [String(pair).split('=')[0], String(pair).split('=')[1]]),
);

try {
  process.exitCode = await destroy();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function destroy(): Promise<number> {
  const { name, settings } = readStage(
    context.get('stage') ?? 'dev',
    context.get('stages') ?? `${root}lib/stages`,
  );
  const stack = `Watchpost-${name}`;
  if (!values.force && !(await confirm(`End all jobs and watches of ${stack}, and remove it? (y/n) `)))
    return 1;
  const { region } = settings;
  const { profile } = values;
  const options = { ...(region && { region }), ...(typeof profile === 'string' && { profile }) };
  const stopped = await endRuns(stack, {
    cloudFormation: new CloudFormationClient(options),
    events: new EventBridgeClient(options),
    lambda: new LambdaClient(options),
    states: new SFNClient(options),
  });
  process.stdout.write(`${stopped} executions ended.\n`);
  const cdk = spawn('cdk', ['destroy', ...args, ...(values.force ? [] : ['--force'])], {
    stdio: 'inherit',
    cwd: root,
  });
  await once(cdk, 'exit');
  if (cdk.exitCode !== 0)
    process.stderr.write(
      `${stack} is still there, without executions of its functions: run the command again.\n`,
    );
  return cdk.exitCode ?? 1;
}

async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(question);
  terminal.close();
  return answer.trim().toLowerCase() === 'y';
}
