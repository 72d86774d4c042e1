import { parseArgs } from 'node:util';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { dynamoStores } from '../adapters/aws/dynamodb/stores.ts';
import { moveAlias, readDeployedStack } from '../lib/operations/rollback/functions.ts';
import { listCommonReleases, planRollback } from '../lib/operations/rollback/plan.ts';

/**
 * `npm run rollback -- --stack NAME [--to RELEASE] [--dry-run]` returns all functions of a stack to an earlier release that was live, by moving their
 * aliases. Exit code 0 if it did, 1 if there is no such release or AWS refuses, 2 for invalid options.
 */

const usage = 'Name the stack: npm run rollback -- --stack Watchpost-prod [--to RELEASE] [--dry-run]';

const options = readOptions();
if (options === undefined) {
  say(usage, process.stderr);
  process.exitCode = 2;
} else {
  process.exitCode = await rollBack(options).catch((error: unknown) => {
    say(error instanceof Error ? `${error.name}: ${error.message}` : String(error), process.stderr);
    return 1;
  });
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        stack: { type: 'string' },
        to: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
      },
    });
    return values.stack === undefined ? undefined : { ...values, stack: values.stack };
  } catch {
    return undefined;
  }
}

async function rollBack({ stack, to, 'dry-run': dryRun }: NonNullable<typeof options>): Promise<number> {
  const clients = { cloudFormation: new CloudFormationClient({}), lambda: new LambdaClient({}) };
  const { functions, tableName } = await readDeployedStack(stack, clients);
  const stores = dynamoStores({ client: new DynamoDBClient({}), tableName, now: () => new Date() });
  const live = await stores.releases.listLive();
  const releases = listCommonReleases(functions).map((each) =>
    live.has(each) ? each : `${each} (not live)`,
  );
  say(`Releases, newest first: ${releases.join(', ')}`);
  const plan = planRollback(functions, live, to);
  if (plan.kind === 'impossible') {
    say(`${plan.reason} ${plan.next}`, process.stderr);
    return 1;
  }
  say(`${dryRun ? 'Would return' : 'Returning'} to release ${plan.release}`);
  for (const move of plan.moves) {
    if (!dryRun) await moveAlias(move, clients);
    say(`${move.name}: version ${move.from} → ${move.to}`);
  }
  say(
    plan.moves.length === 0
      ? 'Nothing to do.'
      : 'The next deployment of a changed commit moves them forward.',
  );
  return 0;
}

function say(text: string, to: NodeJS.WriteStream = process.stdout): void {
  to.write(`${text}\n`);
}
