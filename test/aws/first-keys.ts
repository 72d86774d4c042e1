import { createHash, randomBytes } from 'node:crypto';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { createAwsRequests } from '../../adapters/aws/requests/aws-requests.ts';
import { jsonCalls } from '../../adapters/aws/requests/json-calls.ts';
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
  const requests = createAwsRequests({
    endpoint,
    region: async () => 'us-east-1',
    credentials: async () => ({ accessKeyId: 'test', secretAccessKey: 'test' }),
  });
  const { callers, keys } = dynamoStores({
    dynamo: jsonCalls(requests, 'dynamodb'),
    tableName,
    now: () => new Date(),
  });
  return async (caller: string, scopes: Scope[] = ['jobs', 'keys']): Promise<string> => {
    await callers.add(newCaller(caller, null, new Date()));
    const { text, key } = mintKey({ caller, scopes, label: 'first' }, new Date(), primitives);
    await keys.put(key);
    return text;
  };
}
