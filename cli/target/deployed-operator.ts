import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../../adapters/aws/client-settings.ts';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { createExecutions } from '../../adapters/aws/executions.ts';
import { createMediaStore } from '../../adapters/aws/media-store.ts';
import { nodeKeyCrypto } from '../../adapters/machine.ts';
import { CommandError } from '../command-error.ts';
import { readStackOutputs } from './stack-outputs.ts';
import { storedOperator, type Operator } from './stored-operator.ts';

const now = () => new Date();

/**
 * Opens a deployment, with the AWS credentials of the user. The first key is created this way, so no endpoint must be
 * open for it. An erasure needs the name of the stack, whose outputs have the bucket and the state machine. Executions
 * of an earlier mode (`burstSeconds`) end at their next tick.
 */
export async function deployedOperator(which: { stack: string } | { table: string }): Promise<Operator> {
  const client = new DynamoDBClient(clientSettings);
  const tableName = 'table' in which ? which.table : await findTable(which.stack, client);
  const { keys, callers, eraser, usage } = dynamoStores({ client, tableName, now });
  const openErasure = async () => {
    if ('table' in which)
      throw new CommandError(
        'A table alone does not name the media of a caller',
        'Use --stack with the name of the stack, or --base-url with an admin key.',
      );
    const outputs = await readStackOutputs(which.stack, new CloudFormationClient({}));
    const { StateMachineArn: stateMachineArn, MediaBucketName: bucket } = outputs;
    if (stateMachineArn === undefined || bucket === undefined)
      throw new CommandError(
        `The stack ${which.stack} has no output MediaBucketName`,
        'Deploy this release first.',
      );
    return {
      eraser,
      executions: createExecutions({ stateMachineArn }),
      media: createMediaStore({ bucket }),
    };
  };
  return {
    ...storedOperator({ keys, callers, usage, now, ...nodeKeyCrypto, openErasure }),
    close: async () => client.destroy(),
  };
}

/** Finds the table of a stack: CloudFormation names it `<stack>-<logical id>-<random>`. */
export async function findTable(stack: string, client: DynamoDBClient): Promise<string> {
  const tables = await listTables(stack, client).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`The tables cannot be listed: ${reason}`, remediation, { cause });
  });
  const [table] = tables;
  if (table !== undefined && tables.length === 1) return table;
  throw new CommandError(
    tables.length === 0
      ? `No table of the stack ${stack} found in this account and region`
      : `${tables.length} tables begin with ${stack}-`,
    remediation,
  );
}

async function listTables(stack: string, client: DynamoDBClient): Promise<string[]> {
  const tables: string[] = [];
  for await (const { TableNames = [] } of paginateListTables({ client }, {}))
    tables.push(...TableNames.filter((name) => name.startsWith(`${stack}-`)));
  return tables;
}

const remediation =
  'Check AWS_PROFILE and AWS_REGION, or set --table to the output TableName of the deployment.';
