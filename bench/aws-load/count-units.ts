import type { JsonCall } from '../../adapters/aws/requests/json-calls.ts';

/** Units of one class of keys, such as `JOB#` or the index `repair`. */
export type KeyClassUnits = { reads: number; writes: number };

export type CountedUnits = KeyClassUnits & { requests: number; byClass: Map<string, KeyClassUnits> };

type Consumed = {
  CapacityUnits?: number;
  Table?: { CapacityUnits: number };
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits: number }>;
};

/**
 * Counts the capacity units of all calls by class of keys; `used` reads and resets the counts. The units of a transaction are divided by its
 * items. DynamoDB Local counts index writes of a transaction twice, which is corrected.
 */
export function countUnits(uncounted: JsonCall): { dynamo: JsonCall; used: () => CountedUnits } {
  let counted = zeroUnits();
  const dynamo: JsonCall = async (action, input) => {
    counted.requests += 1;
    const answer = await uncounted(action, { ...input, ReturnConsumedCapacity: 'INDEXES' });
    const { ConsumedCapacity: consumed } = answer as { ConsumedCapacity?: Consumed | Consumed[] };
    for (const units of [consumed ?? []].flat()) addUnits(action, listKeys(input), units);
    return answer;
  };
  const used = () => {
    const before = counted;
    counted = zeroUnits();
    return before;
  };
  return { dynamo, used };

  function addUnits(
    action: string,
    keys: string[],
    { Table, GlobalSecondaryIndexes, CapacityUnits }: Consumed,
  ) {
    const kind = /^(Get|Query|BatchGet|TransactGet)/.test(action) ? 'reads' : 'writes';
    const isTransaction = action.startsWith('Transact');
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
function listKeys(input: any): string[] {
  const single = input.Key ?? input.Item;
  if (single) return [toClass(single)];
  const batch = Object.values(input.RequestItems ?? {}).flatMap(({ Keys }: any) => Keys);
  if (batch.length > 0) return batch.map(toClass);
  if (input.TransactItems)
    return input.TransactItems.map((item: any) => {
      const { Key, Item } = Object.values<any>(item)[0];
      return toClass(Key ?? Item);
    });
  if (input.IndexName) return [];
  const values = Object.values<any>(input.ExpressionAttributeValues ?? {}).map(toText);
  return [toClass({ pk: values.find((value) => value.includes('#')) ?? 'other' })];
}

function toClass({ pk, sk }: { pk: unknown; sk?: unknown }): string {
  const [prefix = ''] = toText(pk).split('#');
  const [kind = ''] = toText(sk ?? '').split('#');
  return prefix === 'CALLER' || prefix === 'TOTALS' ? `${prefix}# ${kind}` : `${prefix}#`;
}

function toText(value: any): string {
  return String(value?.S ?? value);
}
