import { DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../../adapters/aws/client-settings.ts';
import { markTableRestored } from '../../adapters/aws/dynamodb/mark-restored.ts';
import { CommandError } from '../command-error.ts';
import type { Terminal } from '../terminal.ts';

export type RestoreTableDeps = {
  terminal: Pick<Terminal, 'print'>;
  now: () => Date;
  client?: DynamoDBClient;
};

/**
 * Prepares a table that AWS restored from a backup for a deployment (`watchpost restore --table`). Throws
 * `CommandError` for a table that cannot be used, as one that functions use: AWS restores a table without its TTL,
 * which each deployment has.
 */
export async function restoreTable(
  tableName: string,
  { terminal, now, client = new DynamoDBClient(clientSettings) }: RestoreTableDeps,
): Promise<void> {
  try {
    const { TimeToLiveDescription: ttl } = await client.send(
      new DescribeTimeToLiveCommand({ TableName: tableName }),
    );
    if (ttl?.TimeToLiveStatus !== 'DISABLED')
      throw new CommandError(
        `${tableName} is the table of a deployment: it has a TTL`,
        'Name the table that AWS restored, before it has one.',
      );
    const written = await markTableRestored({ client, tableName, now });
    terminal.print(`${tableName} is ready for a deployment: ${written} items changed`);
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(
      `${tableName} cannot be prepared: ${reason}`,
      'Check AWS_PROFILE, AWS_REGION, the name, and that this release wrote the backup. Then repeat the command.',
      { cause },
    );
  }
}
