import { describe, expect, test } from 'vitest';
import { dynamoStores } from '../../../../adapters/aws/dynamodb/stores.ts';
import { after, start } from '../../../contract/records.ts';
import { withDynamoLocal } from './dynamo-local.ts';

withDynamoLocal((makeTable) => {
  describe('facts of the deployment', () => {
    test('cuts of bursts are those of all instances, and an instance reads them once per minute', async () => {
      let now = start;
      const table = await makeTable();
      const open = () => dynamoStores({ ...table, now: () => now }).burstCuts;
      const [reader, writer] = [open(), open()];
      expect(await reader.read()).toBeUndefined();
      for (const seconds of [80, 60]) await writer.add(seconds);

      expect(await reader.read()).toBeUndefined();
      now = after(60);
      expect(await reader.read()).toMatchObject({ cuts: 2, held_seconds: 60 });
    });
  });
});
