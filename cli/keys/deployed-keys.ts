import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import type { KeyCrypto } from '../../core/access/api-key.ts';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { CommandError } from '../command-error.ts';
import type { KeyBackend } from './key-backend.ts';
import { storedKeys } from './stored-keys.ts';

const now = () => new Date();

/**
 * Keys of a deployment, written straight to its table with the AWS credentials of whoever calls: how the first key is made, for which no
 * endpoint has to be open.
 */
export async function deployedKeys(
  which: { stack: string } | { table: string },
  primitives: KeyCrypto,
): Promise<KeyBackend> {
  const client = new DynamoDBClient({});

  const tableName = 'table' in which ? which.table : await findTable(which.stack, client);
  const { keys, callers } = dynamoStores({ client, tableName, now });
  return storedKeys({ keys, callers, now, ...primitives }, async () => client.destroy());
}

/** CloudFormation names what it makes after the stack: `<stack>-<id in the template>-<random>`. */
export async function findTable(stack: string, client: DynamoDBClient): Promise<string> {
  const found: string[] = [];
  for await (const { TableNames = [] } of paginateListTables({ client }, {}))
    found.push(...TableNames.filter((name) => name.startsWith(`${stack}-`)));
  const [table] = found;
  if (table !== undefined && found.length === 1) return table;
  throw new CommandError(
    found.length === 0
      ? `No table of a stack ${stack} in this account and region`
      : `${found.length} tables have names that begin with ${stack}-`,
    'Check AWS_PROFILE and AWS_REGION, or give --table with the TableName that the deployment printed.',
  );
}
