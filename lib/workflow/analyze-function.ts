import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { visionProviders } from '../../adapters/vision/aws-provider-registry.ts';
import type { AnalyzeEnvironment } from '../../functions/analyze/config.ts';
import {
  allowExecutions,
  allowInvoking,
  allowMedia,
  allowSending,
  allowTable,
} from '../function/permissions.ts';
import type { DeploymentBus } from '../delivery/event-bus.ts';
import { ServiceFunction, type FunctionContext, type OwnEnvironment } from '../function/service-function.ts';
import type { StageSettings } from '../stages/stage-settings.ts';
import { executionEnvironment, type ExecutionMachines } from './workflow-names.ts';

type Props = {
  table: Table;
  pictures: Bucket;
  queue: Queue;
  eventBus: DeploymentBus | undefined;
  machines: ExecutionMachines;
  capture: ServiceFunction;
};

/** Function that calls the model and commits ticks. Only its role may call the model. */
export class AnalyzeFunction extends Construct {
  readonly function: ServiceFunction;

  constructor(scope: Construct, id: string, context: FunctionContext, props: Props) {
    super(scope, id);
    const { table, pictures, queue, machines, capture } = props;
    const { retentionSeconds, visionProvider, visionPrompt, visionWidth } = context.settings;
    const { region } = Stack.of(this);
    const vision = visionProviders[visionProvider].readStage(context.settings, region);
    const environment: OwnEnvironment<AnalyzeEnvironment> = {
      TABLE_NAME: table.tableName,
      MEDIA_BUCKET: pictures.bucketName,
      QUEUE_URL: queue.queueUrl,
      EVENT_BUS: props.eventBus?.nameOrArn,
      ...executionEnvironment(this, machines),
      CAPTURE_FUNCTION: capture.live.functionArn,
      VISION_PROVIDER: visionProvider,
      MODEL_ID: vision.modelId,
      VISION_PROMPT: visionPrompt,
      VISION_WIDTH: String(visionWidth),
      ...vision.environment,
      RETENTION_SECONDS: String(retentionSeconds),
    };
    this.function = new ServiceFunction(this, 'Analyze', context, {
      name: 'analyze',
      // Memory for the frames of a window: up to 18 MB, and their base64 text.
      memoryMegabytes: 512,
      // More than the model's 90 s with the commit, less than the 150 s of the workflow's task.
      timeoutSeconds: 140,
      environment,
    });
    allowTable(this.function, table, { apiKeys: false });
    allowMedia(this.function, pictures, ['s3:GetObject', 's3:PutObject', 's3:DeleteObject']);
    allowSending(this.function, queue);
    allowExecutions(this.function, machines, ['states:StopExecution']);
    allowInvoking(this.function, capture);
    allowModel(this.function, context.settings);
  }
}

/** Grants calls of the model of a stage, as its provider lists them. */
function allowModel(to: ServiceFunction, settings: StageSettings): void {
  const { region, partition, account } = Stack.of(to);
  const provider = visionProviders[settings.visionProvider];
  for (const { actions, resources, ...terms } of provider.listPermissions(settings, {
    region,
    partition,
    account,
  })) {
    to.allow(actions, resources, terms);
  }
}
