import { Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { DeliverEnvironment } from '../../functions/deliver/config.ts';
import { describeModel } from '../api/http-environment.ts';
import type { EgressNetwork } from './egress-network.ts';
import { attemptSeconds } from './delivery-queue.ts';
import { allowMail, mailEnvironment } from './mail.ts';
import type { DeploymentBus } from './event-bus.ts';
import {
  allowInvoking,
  allowMedia,
  allowPuttingEvents,
  allowReadingSecrets,
  allowRemovingMemory,
  allowSending,
  allowTable,
} from '../function/permissions.ts';
import { ServiceFunction, type FunctionContext, type OwnEnvironment } from '../function/service-function.ts';

type Props = {
  table: Table;
  pictures: Bucket;
  queue: Queue;
  capture: ServiceFunction;
  masterSecret: Secret;
  baseUrl: string;
  modelId: string;
  network: EgressNetwork | undefined;
  eventBus: DeploymentBus | undefined;
};

/**
 * Function that delivers events to webhooks and to the event bus, one message per invocation, first attempts in order
 * per job.
 */
export class WebhookDelivery extends Construct {
  readonly function: ServiceFunction;

  constructor(scope: Construct, id: string, context: FunctionContext, props: Props) {
    super(scope, id);
    const { table, pictures, queue, capture, masterSecret, baseUrl, modelId, network, eventBus } = props;
    const { allowWebhookRanges, deliveriesAtOnce } = context.settings;
    const environment: OwnEnvironment<DeliverEnvironment> = {
      TABLE_NAME: table.tableName,
      MEDIA_BUCKET: pictures.bucketName,
      QUEUE_URL: queue.queueUrl,
      CAPTURE_FUNCTION: capture.live.functionArn,
      EVENT_BUS: eventBus?.nameOrArn,
      MASTER_SECRET_ARN: masterSecret.secretArn,
      BASE_URL: baseUrl,
      MODEL: JSON.stringify(describeModel(context.settings, modelId)),
      ALLOW_WEBHOOK_RANGES: allowWebhookRanges.join(','),
      DENY_RANGES: network?.ranges.join(','),
      ...mailEnvironment(context.settings),
    };
    this.function = new ServiceFunction(this, 'Deliver', context, {
      name: 'deliver',
      // Memory for the base64 image of an event.
      memoryMegabytes: 512,
      timeoutSeconds: attemptSeconds,
      // An event is sent again when its attempts leave the order, when it waits for an earlier one, and when that one
      // ends, once each; at most 100 events wait at a destination (`core/delivery/destination-state.ts`). So a chain
      // has at most 300 messages, and each one ends or moves an event.
      invokedByItself: true,
      environment,
      network,
    });
    this.#consume(queue, deliveriesAtOnce);
    allowTable(this.function, table, { apiKeys: false });
    // Retries move to a message group of their own.
    allowSending(this.function, queue);
    allowMedia(this.function, pictures, ['s3:GetObject']);
    // A clip is made by `capture`.
    allowInvoking(this.function, capture);
    allowRemovingMemory(this.function, pictures);
    allowReadingSecrets(this.function, masterSecret);
    allowMail(this.function, context.settings);
    if (eventBus) allowPuttingEvents(this.function, eventBus.bus);
  }

  #consume(queue: Queue, deliveriesAtOnce: number | undefined): void {
    const source = new SqsEventSource(queue, {
      batchSize: 1,
      reportBatchItemFailures: true,
      ...(deliveriesAtOnce !== undefined && { maxConcurrency: deliveriesAtOnce }),
    });
    this.function.live.addEventSource(source);
    Validations.of(this.function).acknowledge({
      id: 'Serverless-LambdaEventSourceMappingDestination',
      reason:
        'An SQS event source has no failure destination: the queue moves failed messages to its dead-letter queue.',
    });
  }
}
