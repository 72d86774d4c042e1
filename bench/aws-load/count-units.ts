import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';

/** Units of one class of keys, such as `RUN#` or the index `repair`. */
export type KeyClassUnits = { reads: number; writes: number };

export type CountedUnits = KeyClassUnits & { requests: number; byClass: Map<string, KeyClassUnits> };

const unitsSchema = z.object({ CapacityUnits: z.number() });
const consumedSchema = z.object({
  CapacityUnits: z.number().optional(),
  Table: unitsSchema.optional(),
  GlobalSecondaryIndexes: z.record(z.string(), unitsSchema).optional(),
});
type Consumed = z.output<typeof consumedSchema>;
const answerSchema = z.object({
  ConsumedCapacity: z.union([consumedSchema, z.array(consumedSchema)]).optional(),
});

/** Attribute of a request, as text. */
const textSchema = z
  .object({ S: z.string() })
  .transform(({ S }) => S)
  .or(z.unknown().transform(String));
const keySchema = z.object({ pk: textSchema, sk: textSchema.optional() });
const writeSchema = z.object({ Key: keySchema.optional(), Item: keySchema.optional() });
const inputSchema = writeSchema.extend({
  RequestItems: z.record(z.string(), z.object({ Keys: z.array(keySchema) })).default({}),
  TransactItems: z.array(z.record(z.string(), writeSchema)).optional(),
  IndexName: z.string().optional(),
  ExpressionAttributeValues: z.record(z.string(), textSchema).default({}),
});

/**
 * Counts the capacity units of all requests of a client by class of keys; the returned function reads and resets the counts. The units of a transaction are divided by its
 * items. DynamoDB Local counts index writes of a transaction twice, which is corrected.
 */
export function countUnits(client: DynamoDBClient): () => CountedUnits {
  let counted = zeroUnits();
  client.middlewareStack.add(
    (next, context) => async (args) => {
      counted.requests += 1;
      Object.assign(args.input, { ReturnConsumedCapacity: 'INDEXES' });
      const result = await next(args);
      const { ConsumedCapacity: consumed } = answerSchema.parse(result.output);
      for (const units of [consumed ?? []].flat())
        addUnits(String(context['commandName']), listKeys(args.input), units);
      return result;
    },
    { step: 'initialize' },
  );
  return () => {
    const before = counted;
    counted = zeroUnits();
    return before;
  };

  function addUnits(
    command: string,
    keys: string[],
    { Table, GlobalSecondaryIndexes, CapacityUnits }: Consumed,
  ) {
    const kind = /^(Get|Query|BatchGet|TransactGet)/.test(command) ? 'reads' : 'writes';
    const isTransaction = command.startsWith('Transact');
    let indexUnits = 0;
    for (const [name, { CapacityUnits: units }] of Object.entries(GlobalSecondaryIndexes ?? {})) {
      indexUnits += units;
      add(`index ${name}`, kind, kind === 'writes' && isTransaction ? units / 2 : units);
    }
    const tableUnits = Table?.CapacityUnits ?? (CapacityUnits ?? 0) - indexUnits;
    for (const key of keys) add(key, kind, tableUnits / keys.length);
  }

  function add(name: string, kind: 'reads' | 'writes', units: number) {
    const found = counted.byClass.get(name) ?? { reads: 0, writes: 0 };
    found[kind] += units;
    counted.byClass.set(name, found);
    counted[kind] += units;
  }
}

function zeroUnits(): CountedUnits {
  return { reads: 0, writes: 0, requests: 0, byClass: new Map() };
}

/** Lists the classes of the keys of a request: the prefix of the partition key, and the kind of item of callers and totals. */
function listKeys(request: object): string[] {
  const input = inputSchema.parse(request);
  const single = input.Key ?? input.Item;
  if (single) return [toClass(single)];
  const batch = Object.values(input.RequestItems).flatMap(({ Keys }) => Keys);
  if (batch.length > 0) return batch.map(toClass);
  if (input.TransactItems)
    return input.TransactItems.flatMap((item) =>
      Object.values(item).flatMap(({ Key, Item }) => [Key ?? Item ?? []].flat().map(toClass)),
    );
  if (input.IndexName !== undefined) return [];
  const values = Object.values(input.ExpressionAttributeValues);
  return [toClass({ pk: values.find((value) => value.includes('#')) ?? 'other' })];
}

function toClass({ pk, sk }: z.output<typeof keySchema>): string {
  const [prefix = ''] = pk.split('#');
  const [kind = ''] = (sk ?? '').split('#');
  return prefix === 'CALLER' || prefix === 'TOTALS' ? `${prefix}# ${kind}` : `${prefix}#`;
}
