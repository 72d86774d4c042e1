import { viewRuns } from '../../../../support/select-runs.ts';
import { DeleteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { itemKeys } from '../../../../../adapters/aws/dynamodb/table/keys.ts';
import { dynamoStores } from '../../../../../adapters/aws/dynamodb/stores.ts';
import { after, begin, changed, createCreation, end, newJob, start } from '../../../../contract/records.ts';
import { withDynamoLocal } from '../dynamo-local.ts';

withDynamoLocal((makeTable) => {
  test('a job is found behind older ones of which one item has expired before the other', async () => {
    const { client, tableName } = await makeTable();
    const { jobs, eraser } = viewRuns(dynamoStores({ client, tableName, now: () => start }));
    const created = [];
    for (let index = 0; index < 3; index += 1) {
      const job = newJob({ caller: 'harbour', created_at: after(index).toISOString() });
      await jobs.create(createCreation(job), start);
      const started = begin(job);
      await jobs.commit(started);
      await jobs.commit(end(changed(job, started), after(60)));
      created.push(job.run_id);
    }
    const [first = '', second = '', last = ''] = created;
    for (const id of [first, second])
      await DynamoDBDocumentClient.from(client).send(
        new DeleteCommand({ TableName: tableName, Key: itemKeys.meta(id) }),
      );

    expect((await eraser.listWork('harbour', 2)).map(({ id }) => id)).toEqual([last]);
  });
});
