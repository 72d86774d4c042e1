import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { cancellationOf, isConditionFailure, isInTheWay } from './cancellation.ts';
import { untilAnswered, type Patience } from './jitter.ts';
import { storageError } from './storage-error.ts';
import type { Table, Transacted, Written } from './table.ts';
import { expressionOf, toTransactItem, type Item, type Write } from './write.ts';

type Needs = { documents: DynamoDBDocumentClient; tableName: string; newId: () => string } & Patience;

/** Creates the write operations. */
export function tableWrites({
  documents,
  tableName,
  newId,
  ...backoff
}: Needs): Pick<Table, 'write' | 'transact'> {
  return {
    write: async (write) => untilAnswered(() => tryWrite(write), backoff),
    transact: async (writes) => {
      const items = writes.map((write) => toTransactItem(write, tableName));
      let token = newId();
      return untilAnswered(async (): Promise<Transacted | undefined> => {
        const outcome = await tryTransact(items, token);
        if (outcome.kind === 'written' || outcome.kind === 'refused') return outcome;
        // A cancelled transaction is retried as a new request; one that may be running keeps its token.
        if (outcome.kind === 'collided') token = newId();
        return undefined;
      }, backoff);
    },
  };

  async function tryWrite(write: Write): Promise<Written | undefined> {
    try {
      return { kind: 'written', item: await send(write) };
    } catch (error) {
      if (isConditionFailure(error)) return { kind: 'refused' };
      if (isInTheWay(error)) return undefined;
      throw storageError(error);
    }
  }

  async function send(write: Write): Promise<Item | undefined> {
    const rest = expressionOf(write, tableName);
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
      const cancellation = cancellationOf(error);
      if (cancellation === undefined) throw storageError(error);
      return cancellation;
    }
  }
}
