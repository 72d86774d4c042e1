import { createInterface } from 'node:readline/promises';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient } from '@aws-sdk/client-sfn';
import { endRuns } from '../lib/operations/teardown/end-runs.ts';
import { runForStage } from './stage-command.ts';

/**
 * `npm run destroy -- -c stage=NAME [--force] [options of cdk destroy]` ends the runs of a stage and removes its stack.
 * It asks before it begins, unless `--force` is given. Exit code: that of the CDK, or 1 for a protected stack.
 */

await runForStage(async ({ stack, isForced, aws, runCdk }) => {
  if (!isForced && !(await confirm(`End all jobs and watches of ${stack}, and remove it? (y/n) `))) return 1;
  const stopped = await endRuns(stack, {
    cloudFormation: new CloudFormationClient(aws),
    events: new EventBridgeClient(aws),
    lambda: new LambdaClient(aws),
    states: new SFNClient(aws),
  });
  process.stdout.write(`${stopped} executions ended.\n`);
  const exitCode = await runCdk('destroy', ...(isForced ? [] : ['--force']));
  if (exitCode !== 0)
    process.stderr.write(
      `${stack} is still there, without executions of its functions: run the command again.\n`,
    );
  return exitCode;
});

async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(question);
  terminal.close();
  return answer.trim().toLowerCase() === 'y';
}
