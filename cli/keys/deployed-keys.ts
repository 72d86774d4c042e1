import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import type { KeyCrypto } from '../../core/access/api-key.ts';
import { clientSettings } from '../../adapters/aws/client-settings.ts';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { CommandError } from '../command-error.ts';
import { storedKeys } from './key-backend.ts';
import type { KeyBackend } from './key-backend.ts';

const now = () => new Date();

/**
 * Creates a backend for the keys of a deployment, which writes to its table with the AWS credentials of the user. The
 * first key is created this way, so no endpoint must be open for it.
 */
export async function deployedKeys(
  which: { stack: string } | { table: string },
  primitives: KeyCrypto,
): Promise<KeyBackend> {
  const client = new DynamoDBClient(clientSettings);

  const tableName = 'table' in which ? which.table : await findTable(which.stack, client);
  const { keys, callers } = dynamoStores({ client, tableName, now });
  return storedKeys({ keys, callers, now, ...primitives }, async () => client.destroy());
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
