import { z } from 'zod';
import { readCancellation, isConditionFailure, isTransactionConflict } from './cancellation.ts';
import { retryWithJitter } from './retry-with-jitter.ts';
import { toCoreError } from '../aws-error.ts';
import { attributesSchema, fromAttributes, toAttributes } from './attributes.ts';
import type { Table, TableDeps, TransactionResult, WriteResult } from './table.ts';
import { buildExpression, toTransactItem, type Item, type Write } from './write.ts';

/** Creates the write operations. */
export function tableWrites({
  dynamo,
  tableName,
  newId,
  ...backoff
}: TableDeps): Pick<Table, 'write' | 'transact'> {
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
        await dynamo('PutItem', { ...rest, Item: toAttributes(write.item) });
        return undefined;
      case 'delete':
        await dynamo('DeleteItem', { ...rest, Key: toAttributes(write.key) });
        return undefined;
      case 'update': {
        const update = { ...rest, Key: toAttributes(write.key), UpdateExpression: write.change };
        const answer = await dynamo('UpdateItem', { ...update, ReturnValues: 'ALL_NEW' });
        return fromAttributes(updatedSchema.parse(answer).Attributes);
      }
    }
  }

  /** The token makes retries after a broken connection the same request, for ten minutes. */
  async function tryTransact(items: ReturnType<typeof toTransactItem>[], token: string) {
    try {
      await dynamo('TransactWriteItems', { TransactItems: items, ClientRequestToken: token });
      return { kind: 'written' } as const;
    } catch (error) {
      const cancellation = readCancellation(error);
      if (cancellation === undefined) throw toCoreError(error);
      return cancellation;
    }
  }
}

const updatedSchema = z.object({ Attributes: attributesSchema });
