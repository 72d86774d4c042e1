import { EventBridgeClient, PutRuleCommand, PutTargetsCommand } from '@aws-sdk/client-eventbridge';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { busEventSchemas } from '../support/bus-events.ts';
import type { Emulator } from './emulator.ts';

type BusEvent = {
  source: string;
  'detail-type': string;
  detail: { id: string; caller: string; data: { job_id?: string } };
};

/**
 * Sends all events of the bus to a new queue, by a rule, and returns a function that reads the events of a job until
 * `count` arrived.
 */
export async function queueBusEvents({ endpoint }: Emulator, bus: string) {
  const options = {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  };
  const sqs = new SQSClient(options);
  const events = new EventBridgeClient(options);
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'bus-events' }));
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  const rule = { EventBusName: bus, Name: 'all' };
  await events.send(new PutRuleCommand({ ...rule, EventPattern: JSON.stringify({ source: ['watchpost'] }) }));
  const targets = [{ Id: 'queue', Arn: Attributes?.QueueArn ?? '' }];
  await events.send(new PutTargetsCommand({ EventBusName: bus, Rule: 'all', Targets: targets }));
  const received: BusEvent[] = [];

  return async (jobId: string, count: number): Promise<string[]> => {
    const ofJob = () => received.filter(({ detail }) => detail.data.job_id === jobId);
    for (let tries = 0; tries < 30 && ofJob().length < count; tries += 1) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 2, MaxNumberOfMessages: 10 }),
      );
      for (const { Body = '', ReceiptHandle } of Messages) {
        received.push(JSON.parse(Body));
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
    }
    for (const { 'detail-type': type, detail } of ofJob())
      busEventSchemas.find((each) => each.type === type)?.schema.parse(detail);
    return ofJob().map((event) => event['detail-type']);
  };
}
