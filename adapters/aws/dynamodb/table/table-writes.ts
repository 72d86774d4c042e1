import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { readCancellation, isConditionFailure, isTransactionConflict } from './cancellation.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { retryWithJitter } from './retry-with-jitter.ts';
import { toCoreError } from '../../aws-error.ts';
import type { Table, TransactionResult, WriteResult } from './table.ts';
import { buildExpression, toTransactItem, type Item, type Write } from './write.ts';

type Deps = { documents: DynamoDBDocumentClient; tableName: string; newId: () => string } & BackoffDeps;

export function tableWrites({
  documents,
  tableName,
  newId,
  ...backoff
}: Deps): Pick<Table, 'write' | 'transact'> {
  return {
    write: async (write) => retryWithJitter(() => tryWrite(write), backoff),
    transact: async (writes) => {
      const items = writes.map((write) => toTransactItem(write, tableName));
      let token = newId();
      return retryWithJitter(async (): Promise<TransactionResult | undefined> => {
        const outcome = await tryTransact(items, token);
        if (outcome.kind === 'written' || outcome.kind === 'refused') return outcome;
        // A cancelled transaction is retried as a new request; one that may be running keeps its token.
        if (outcome.kind === 'collided') token = newId();
        return undefined;
      }, backoff);
    },
  };

  async function tryWrite(write: Write): Promise<WriteResult | undefined> {
    try {
      return { kind: 'written', item: await send(write) };
    } catch (error) {
      if (isConditionFailure(error)) return { kind: 'refused' };
      if (isTransactionConflict(error)) return undefined;
      throw toCoreError(error);
    }
  }

  async function send(write: Write): Promise<Item | undefined> {
    const rest = buildExpression(write, tableName);
    switch (write.kind) {
      case 'put':
        await documents.send(new PutCommand({ ...rest, Item: write.item }));
        return undefined;
      case 'delete':
        await documents.send(new DeleteCommand({ ...rest, Key: write.key }));
        return undefined;
      case 'update': {
        const update = { ...rest, Key: write.key, UpdateExpression: write.change };
        return (await documents.send(new UpdateCommand({ ...update, ReturnValues: 'ALL_NEW' }))).Attributes;
      }
    }
  }

  /** The token makes SDK retries after a broken connection the same request, for ten minutes. */
  async function tryTransact(items: ReturnType<typeof toTransactItem>[], token: string) {
    try {
      await documents.send(new TransactWriteCommand({ TransactItems: items, ClientRequestToken: token }));
      return { kind: 'written' } as const;
    } catch (error) {
      const cancellation = readCancellation(error);
      if (cancellation === undefined) throw toCoreError(error);
      return cancellation;
    }
  }
}
