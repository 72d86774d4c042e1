import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import type { Emulator } from './emulator.ts';

/** Returns the warnings and errors that the functions logged, to diagnose a failed run. */
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
