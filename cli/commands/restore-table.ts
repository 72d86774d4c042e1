import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../../adapters/aws/client-settings.ts';
import { partitionKey, sortKey } from '../../adapters/aws/dynamodb/table/table-layout.ts';
import { applyRestore, planRestore, type RestorePlan } from '../../adapters/aws/dynamodb/restore/restore.ts';
import { CommandError } from '../command-error.ts';
import { findTable } from '../keys/deployed-keys.ts';
import type { Terminal } from '../terminal.ts';

/** Options of `watchpost restore --from-table`. */
export type RestoreTableOptions = {
  fromTable: string;
  stack?: string | undefined;
  table?: string | undefined;
  /** Callers and ids that are not restored. */
  except: string[];
  /** False to print the plan only. */
  yes: boolean;
  json: boolean;
};

/**
 * Adds what a deployment on AWS lacks from a table that AWS restored from a backup (`watchpost restore --from-table`). Prints the plan, and
 * changes nothing without `--yes`. Throws `CommandError` for a table that cannot be used.
 */
export async function restoreTable(
  { fromTable, stack, table, except, yes, json }: RestoreTableOptions,
  { terminal, now, client = new DynamoDBClient(clientSettings) }: RestoreTableDeps,
): Promise<void> {
  if ((stack === undefined) === (table === undefined))
    throw new CommandError('No deployment is named, or two are', 'Use either --stack or --table.');
  const toTable = table ?? (await findTable(stack ?? '', client, fromTable));
  if (toTable === fromTable)
    throw new CommandError(
      `${fromTable} is the live table itself`,
      'Use the table that AWS restored from a backup.',
    );
  await requireTable(client, fromTable);
  await requireTable(client, toTable);
  const deps = { client, fromTable, toTable, now };
  const plan = await planRestore(deps, new Set(except));
  if (!json) for (const line of describePlan(plan, { fromTable, toTable })) terminal.print(line);
  if (!yes) {
    if (json) terminal.print(JSON.stringify({ ...summarize(plan), written: 0 }));
    terminal.note(
      'Nothing was changed. Repeat the command with --yes, or with --except to leave out what was deleted on purpose.',
    );
    return;
  }
  const progress = terminal.waiting('Adding items');
  try {
    const written = await applyRestore(deps, plan, (count) => progress.update(`Added ${count} items`));
    terminal.print(
      json ? JSON.stringify({ ...summarize(plan), written }) : `Added ${written} items to ${toTable}`,
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(
      `The restore was interrupted: ${reason}`,
      'Repeat the command: it adds the rest.',
      { cause },
    );
  } finally {
    progress.done();
  }
}

export type RestoreTableDeps = {
  terminal: Pick<Terminal, 'print' | 'note' | 'waiting'>;
  now: () => Date;
  client?: DynamoDBClient;
};

/** Throws `CommandError` unless the table exists, is ready, and has the keys of a table of Watchpost. */
async function requireTable(client: DynamoDBClient, name: string): Promise<void> {
  const { Table: table } = await client
    .send(new DescribeTableCommand({ TableName: name }))
    .catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new CommandError(
        `The table ${name} cannot be read: ${reason}`,
        'Check AWS_PROFILE, AWS_REGION and the name.',
        { cause },
      );
    });
  if (table?.TableStatus !== 'ACTIVE' && table?.TableStatus !== 'UPDATING')
    throw new CommandError(
      `The table ${name} is ${table?.TableStatus ?? 'unknown'}`,
      `Wait until it is ACTIVE: aws dynamodb wait table-exists --table-name ${name}`,
    );
  const keys = (table.KeySchema ?? []).map(({ AttributeName }) => AttributeName);
  if (keys.join() !== `${partitionKey.name},${sortKey.name}`)
    throw new CommandError(
      `${name} is not a table of Watchpost`,
      'Use a backup of the table of the deployment.',
    );
}

const kinds = [
  ['caller', 'callers'],
  ['key', 'keys'],
  ['watch', 'watches'],
  ['job', 'jobs'],
] as const;

function describePlan(
  plan: RestorePlan,
  { fromTable, toTable }: { fromTable: string; toTable: string },
): string[] {
  const rows = kinds.map(([kind, name]) => {
    const { add, present, over, excluded } = plan.counts[kind];
    const rest = [
      `${present} present`,
      ...(over ? [`${over} ended`] : []),
      ...(excluded ? [`${excluded} left out`] : []),
    ];
    return `  ${name.padEnd(8)} ${String(add).padStart(6)} to add, ${rest.join(', ')}`;
  });
  return [
    `From ${fromTable} to ${toTable}:`,
    ...rows,
    ...describeList('Callers that come back', plan.callers),
    ...listContinuing(plan, 'key', 'Keys that are valid again'),
    ...listContinuing(plan, 'watch', 'Watches that continue'),
    ...listContinuing(plan, 'job', 'Jobs that continue'),
  ];
}

function listContinuing({ entities }: RestorePlan, kind: 'key' | 'watch' | 'job', title: string): string[] {
  return describeList(
    title,
    entities
      .filter((each) => each.kind === kind && each.continues)
      .map(({ id, caller, title: name }) => `${id} of ${caller}: ${name}`),
  );
}

function describeList(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

function summarize({ counts, callers, entities }: RestorePlan) {
  return { counts, callers, entities };
}
