import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../../adapters/aws/client-settings.ts';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { createExecutions } from '../../adapters/aws/executions.ts';
import { createMediaStore } from '../../adapters/aws/media-store.ts';
import { CommandError } from '../command-error.ts';
import { findTable } from '../keys/deployed-keys.ts';
import { readStackOutputs } from '../target/stack-outputs.ts';
import type { CallerBackend } from './caller-backend.ts';
import { storedCallers } from './stored-callers.ts';

const now = () => new Date();

/**
 * Creates a backend for the callers of a deployment, with the AWS credentials of the user. An erasure needs the name of
 * the stack, whose outputs have the bucket and the state machine. Executions of an earlier mode (`burstSeconds`) end at
 * their next tick.
 */
export async function deployedCallers(which: { stack: string } | { table: string }): Promise<CallerBackend> {
  const client = new DynamoDBClient(clientSettings);
  const tableName = 'table' in which ? which.table : await findTable(which.stack, client);
  const { callers, eraser, usage } = dynamoStores({ client, tableName, now });
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
  return storedCallers({ callers, usage, now, openErasure }, async () => client.destroy());
}
