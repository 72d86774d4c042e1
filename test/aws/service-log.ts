import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import type { Emulator } from './emulator.ts';

/** What the functions logged as warnings and errors, for who has to find out why the run failed. */
export async function troubles({ endpoint }: Emulator, logGroupName: string): Promise<string[]> {
  const client = new CloudWatchLogsClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const { events = [] } = await client.send(new FilterLogEventsCommand({ logGroupName, limit: 10_000 }));
  return events
    .map(({ message = '' }) => message)
    .filter((message) => /"level":"(ERROR|WARN)|errorMessage|Error:/.test(message))
    .slice(-20);
}
