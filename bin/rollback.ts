import { parseArgs } from 'node:util';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { rollBack } from '../lib/operations/rollback/rollback.ts';

/**
 * `npm run rollback -- --stack NAME [--to RELEASE] [--dry-run]` returns all functions of a stack to an earlier release,
 * by moving their aliases. Exit code 1 if there is no such release or AWS refuses.
 */

try {
  const { values } = parseArgs({
    options: {
      stack: { type: 'string', default: '' },
      to: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
    },
  });
  const { stack, to, 'dry-run': dryRun } = values;
  if (stack === '') throw new Error('Name the stack: npm run rollback -- --stack Watchpost-prod');
  const clients = { cloudFormation: new CloudFormationClient({}), lambda: new LambdaClient({}) };
  await rollBack({ stack, to, dryRun }, clients, (line) => void process.stdout.write(`${line}\n`));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`);
  process.exitCode = 1;
}
