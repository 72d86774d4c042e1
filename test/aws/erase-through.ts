import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { createClient } from '../../client/index.ts';
import { erasureResponseSchema } from '../../core/responses/access.ts';

/**
 * Erases a caller whose watch remembers pictures, and waits until the table has no trace of its name: a check may be
 * under way. Returns a report; throws if something is left.
 */
export async function eraseThrough(
  baseUrl: string,
  { caller, apiKey, adminKey }: { caller: string; apiKey: string; adminKey: string },
  streamUrl: string,
  { endpoint, tableName }: { endpoint: string; tableName: string },
): Promise<string> {
  const watchpost = createClient({ baseUrl, apiKey });
  await watchpost.createWatch({
    stream_url: streamUrl,
    name: 'Memory',
    interval_seconds: 5,
    enable_prefilter: false,
    memory_days: 1,
    conditions: [{ condition: 'The picture is not black' }],
  });
  await until('the watch remembers a picture', async () => {
    const { moments } = await watchpost.listMoments({});
    return moments.some(({ picture_url: picture }) => picture !== null);
  });
  const counts = { media: 0, watches: 0 };
  await until('the erasure is complete', async () => {
    const response = await fetch(`${baseUrl}/callers/${caller}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${adminKey}` },
    });
    assert.equal(response.status, 200);
    const erased = erasureResponseSchema.parse(await response.json());
    counts.media += erased.media;
    counts.watches += erased.watches;
    return erased.complete;
  });
  assert.equal(counts.watches, 1);
  assert.ok(counts.media > 0, 'pictures are erased');
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  await until('the table has no trace of the caller', async () => {
    for (let start: Record<string, any> | undefined, isFirst = true; isFirst || start; isFirst = false) {
      const page = await client.send(new ScanCommand({ TableName: tableName, ExclusiveStartKey: start }));
      if (JSON.stringify(page.Items).includes(caller)) return false;
      start = page.LastEvaluatedKey;
    }
    return true;
  });
  client.destroy();
  return `${counts.media} pictures of ${counts.watches} watch`;
}

async function until(what: string, isDone: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < 90; waited += 1) {
    if (await isDone()) return;
    await sleep(1_000);
  }
  throw new Error(`Not within 90 s: ${what}`);
}
