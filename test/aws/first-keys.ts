import { createHash, randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { mintKey } from '../../core/access/api-key.ts';
import { newCaller } from '../../core/records/caller.ts';
import type { Scope } from '../../core/records/key.ts';
import type { Emulator } from './emulator.ts';

const primitives = {
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
  randomBytes: (length: number) => new Uint8Array(randomBytes(length)),
};

/** Creates keys directly in the table, like the first keys of an operator. */
export function keyMaker({ endpoint }: Emulator, tableName: string) {
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const { callers, keys } = dynamoStores({ client, tableName, now: () => new Date() });
  return async (caller: string, scopes: Scope[] = ['jobs', 'keys']): Promise<string> => {
    await callers.add(newCaller(caller, null, new Date()));
    const { text, key } = mintKey({ caller, scopes, label: 'first' }, new Date(), primitives);
    await keys.put(key);
    return text;
  };
}
