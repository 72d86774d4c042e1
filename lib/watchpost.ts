import { CfnOutput, Stack, Token } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import { Key, type IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction, ILayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { z } from 'zod';
import cdkOptions from '../cdk.json' with { type: 'json' };
import { storageVersion } from '../adapters/aws/dynamodb/table/record.ts';
import { visionProviders } from '../adapters/vision/aws-provider-registry.ts';
import { ServiceAlarms } from './operations/alarms/alarms.ts';
import { ServiceDashboard } from './operations/alarms/dashboard.ts';
import { ServiceMetrics } from './operations/alarms/service-metrics.ts';
import { AnalyzeFunction } from './workflow/analyze-function.ts';
import { CaptureFunction } from './workflow/capture-function.ts';
import { DeliveryQueue } from './delivery/delivery-queue.ts';
import { ConsoleSite } from './edge/console-site.ts';
import { Edge } from './edge/edge.ts';
import { EgressNetwork } from './delivery/egress-network.ts';
import { createEventBus } from './delivery/event-bus.ts';
import { listEndpoints } from './delivery/network-endpoints.ts';
import { EventStream } from './api/event-stream.ts';
import { HttpApi, AccessLogs } from './api/http-api.ts';
import { JobsTable } from './storage/jobs-table.ts';
import { MediaBucket } from './storage/buckets.ts';
import { Reconcile } from './workflow/reconcile.ts';
import { computeRelease } from './operations/release.ts';
import { stateMachineArn } from './function/permissions.ts';
import { projectFolder } from './files.ts';
import { type FunctionContext, ServiceLog } from './function/service-function.ts';
import { applyToAll } from './function/whole-deployment.ts';
import { isWholeStack, nameService, serviceName } from './function/service-name.ts';
import { encryptWith } from './storage/service-key.ts';
import { ServiceSecrets } from './storage/service-secrets.ts';
import { StageError } from './stages/read-stage.ts';
import { assertArnRegions, assertStreamOrigin, assertSupportedRegion } from './stages/region.ts';
import { stageSettingsSchema, type StageSettings, type StageSettingsInput } from './stages/stage-settings.ts';
import { StateMachines } from './workflow/state-machines.ts';
import { WebhookDelivery } from './delivery/webhook-delivery.ts';
import { executionMachines, workflowNames } from './workflow/workflow-names.ts';

/** Names of the functions of a deployment. */
type ServiceFunctions = Record<
  'api' | 'stream' | 'events' | 'capture' | 'analyze' | 'deliver' | 'reconcile',
  IFunction
>;

/**
 * Properties of a deployment: the settings of a stage (docs/operate/configuration.md), whose ARNs and ids can be
 * tokens, and resources of the app.
 */
export type WatchpostProps = Omit<StageSettingsInput, 'region' | 'account'> & {
  /**
   * Name of what has one in the account: state machines, alarms, policies of CloudFront; at most 40 characters.
   * Default: stack and path of the construct.
   */
  name?: string;
  /**
   * Key of KMS for what the deployment stores, whose policy the construct completes. Default: `encryptionKeyArn`, or
   * keys of AWS.
   */
  encryptionKey?: IKey;
  /** Layer with `/opt/bin/ffmpeg`. Default: the one that `npx watchpost-cdk-layer` has built beside the package. */
  ffmpegLayer?: ILayerVersion;
  /** Folder with one bundle per function. Default: those of the package. */
  bundles?: string;
  /** False to synthesize without an ffmpeg layer, with a warning instead of an error. Default: true. */
  forDeployment?: boolean;
};

/** Watchpost as a part of any stack. `docs/contribute/architecture.md` describes its functions. */
export class Watchpost extends Construct {
  /** Base URL of the API, `https://HOST/api`. */
  readonly apiUrl: string;
  readonly consoleUrl: string;
  readonly table: Table;
  readonly mediaBucket: IBucket;
  readonly alarmTopic: ITopic;
  /** FIFO queue of deliveries to webhooks and destinations, and its dead-letter queue. */
  readonly deliverQueue: IQueue;
  readonly deadLetterQueue: IQueue;
  /** Published versions of the functions, which everything invokes. */
  readonly functions: ServiceFunctions;

  constructor(scope: Construct, id: string, props: WatchpostProps = {}) {
    super(scope, id);
    const {
      name,
      encryptionKey,
      ffmpegLayer,
      forDeployment = true,
      bundles = `${projectFolder}dist/functions`,
      ...given
    } = props;
    const { region } = Stack.of(this);
    const settings = parseSettings(this, given);
    assertRegion(this, settings);
    nameService(this, name);
    // The flags of the app would change the template.
    for (const [flag, value] of Object.entries(cdkOptions.context)) this.node.setContext(flag, value);
    if (encryptionKey && settings.encryptionKeyArn !== undefined)
      throw new StageError(
        `${this.node.path}: encryptionKey and encryptionKeyArn name a key each: remove one.`,
      );
    const key = encryptionKey ?? importKey(this, settings);
    if (key) encryptWith(this, key);
    const names = workflowNames(serviceName(this));
    const machines = executionMachines(names, settings);
    const { modelId } = visionProviders[settings.visionProvider].readStage(settings, region);

    const storage = createStorage(this, settings);
    const { log, table, pictures, secrets, deliveries } = storage;
    const { queue } = deliveries;

    // Workflow and its functions
    const placed = settings.network ?? settings.fixedEgress;
    const network = placed && new EgressNetwork(this, 'Egress', placed);
    const ofAll = settings.network && network;
    const release = computeRelease(this, bundles, settings);
    const context = { bundles, log, settings, release, network: ofAll };
    const eventBus =
      settings.eventBus === undefined ? undefined : createEventBus(this, 'EventBus', settings.eventBus);
    const resources = { table, pictures, queue, machines, eventBus };
    const captureProps = { table, pictures, forDeployment, network, layer: ffmpegLayer };
    const capture = new CaptureFunction(this, 'Capture', context, captureProps).function;
    const tickProps = { ...resources, capture, modelId };
    const analyze = new AnalyzeFunction(this, 'Analyze', context, tickProps).function;
    const workflowProps = { names, capture, analyze, log: log.workflow, settings };
    const workflow = new StateMachines(this, 'Watch', workflowProps);
    const stateMachines = [workflow.inBursts, workflow.continuous];

    // HTTP and console
    const httpProps = { ...tickProps, analyze, secrets, log: log.functions };
    const http = new HttpApi(this, 'Http', context, httpProps);
    const stream = new EventStream(this, 'Stream', context, httpProps, 'stream');
    const events = new EventStream(this, 'Events', context, httpProps, 'events');
    const edge = createEdge(this, settings, { ...storage, network: ofAll }, { http, stream, events });

    // Webhooks and repairs
    const baseUrl = `https://${edge.host}/api`;
    const delivery = new WebhookDelivery(this, 'Webhooks', context, {
      ...resources,
      capture,
      masterSecret: secrets.master,
      baseUrl,
      modelId,
      network,
    });
    const reconcile = new Reconcile(this, 'Reconcile', context, { ...resources, stateMachines });

    // Alarms and dashboard
    const functions = {
      api: http.function,
      stream: stream.function,
      events: events.function,
      capture,
      analyze,
      deliver: delivery.function,
      reconcile: reconcile.function,
    };
    const metrics = new ServiceMetrics({
      service: serviceName(this),
      functions,
      stateMachines,
      burst: workflow.burst,
      table,
      httpApi: http.api,
      streamOrigins: [stream.origin, events.origin],
    });
    const queues = { deliveries: queue, deadLetters: deliveries.deadLetters };
    const serviceAlarms = new ServiceAlarms(this, 'Alarms', {
      ...queues,
      metrics,
      reconcileDeadLetters: reconcile.deadLetters,
      settings,
    });
    // The distribution takes minutes: reconcile has run before the first evaluation of its alarm.
    serviceAlarms.node.addDependency(edge.distribution);
    const { alarms } = serviceAlarms;
    new ServiceDashboard(this, 'Operations', { ...queues, metrics, alarms, log: log.functions });
    this.apiUrl = baseUrl;
    this.consoleUrl = `https://${edge.host}/console`;
    this.table = table;
    this.mediaBucket = pictures;
    this.alarmTopic = serviceAlarms.topic;
    this.deliverQueue = queue;
    this.deadLetterQueue = deliveries.deadLetters;
    this.functions = {
      api: functions.api.liveFunction,
      stream: functions.stream.liveFunction,
      events: functions.events.liveFunction,
      capture: functions.capture.liveFunction,
      analyze: functions.analyze.liveFunction,
      deliver: functions.deliver.liveFunction,
      reconcile: functions.reconcile.liveFunction,
    };
    const outputs = {
      BaseUrl: this.apiUrl,
      ConsoleUrl: this.consoleUrl,
      TableName: table.tableName,
      StorageVersion: storageVersion,
      AlarmTopicArn: this.alarmTopic.topicArn,
      DeliveryQueueUrl: queue.queueUrl,
      DeadLetterQueueUrl: deliveries.deadLetters.queueUrl,
      StateMachineArn: stateMachineArn(this, machines.current),
      LogGroupName: log.functions.logGroupName,
      MediaBucketName: pictures.bucketName,
      DistributionArn: edge.distribution.distributionArn,
      ...(storage.accessLogs && { AccessLogsBucketName: storage.accessLogs.bucketName }),
      ...(network?.address !== undefined && { EgressAddress: network.address }),
      ...(ofAll && { NetworkEndpoints: listEndpoints(settings, region).join(',') }),
      ...(settings.domain && { DistributionDomainName: edge.distribution.distributionDomainName }),
      ...(eventBus && { EventBusArn: eventBus.bus.eventBusArn }),
    };
    this.#addOutputs(outputs);
    if (settings.parameterPath !== undefined)
      this.#addParameters(settings.parameterPath, {
        ...outputs,
        TableArn: table.tableArn,
        MediaBucketArn: pictures.bucketArn,
        DeliveryQueueArn: queue.queueArn,
        DeadLetterQueueArn: deliveries.deadLetters.queueArn,
        ApiFunctionArn: this.functions.api.functionArn,
        DistributionDomainName: edge.distribution.distributionDomainName,
      });
    applyToAll(this, settings);
  }

  /**
   * Grants the invocation of a function. `api` answers events of an HTTP API in payload format 2.0 that have the origin
   * secret.
   */
  grantInvoke(grantee: IGrantable, name: keyof ServiceFunctions = 'api'): Grant {
    return this.functions[name].grantInvoke(grantee);
  }

  /** Adds parameters that another stack reads without a reference, which would tie the deployments to each other. */
  #addParameters(path: string, values: Record<string, string>): void {
    for (const [name, stringValue] of Object.entries(values))
      new StringParameter(this, `Parameter${name}`, { parameterName: `${path}/${name}`, stringValue });
  }

  /**
   * Adds the outputs, which `--stack` of the commands reads. In a stack of others, their names begin with the path of
   * the construct.
   */
  #addOutputs(outputs: Record<string, string>): void {
    const prefix = isWholeStack(this) ? '' : toPrefix(this);
    for (const [name, value] of Object.entries(outputs))
      new CfnOutput(this, name, { value }).overrideLogicalId(`${prefix}${name}`);
  }
}

/** Returns the ids of a construct below its stack, as an output may have them. */
function toPrefix(scope: Construct): string {
  const { scopes } = scope.node;
  const ids = scopes.slice(scopes.indexOf(Stack.of(scope)) + 1).map(({ node }) => node.id);
  return ids.join('').replaceAll(/[^A-Za-z0-9]/g, '');
}

/** Validates the settings. Throws `StageError` with the path of the construct. */
function parseSettings(scope: Construct, given: StageSettingsInput): StageSettings {
  const parsed = stageSettingsSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new StageError(`${scope.node.path}:\n${z.prettifyError(parsed.error)}`);
}

function importKey(scope: Construct, { encryptionKeyArn: arn }: StageSettings): IKey | undefined {
  return arn === undefined ? undefined : Key.fromKeyArn(scope, 'EncryptionKey', arn);
}

/**
 * Throws for a region that a deployment cannot have, and for a stack without one: models and their prices differ by
 * region.
 */
function assertRegion(scope: Construct, settings: StageSettings): void {
  const { region } = Stack.of(scope);
  if (Token.isUnresolved(region))
    throw new StageError(
      `${scope.node.path}: the stack has no region, by which the model is chosen. Create it with one: new Stack(app, id, { env: { region: 'eu-central-1' } }).`,
    );
  assertSupportedRegion(region);
  assertStreamOrigin(settings, region);
  assertArnRegions(scope.node.path, settings, region);
}

/** Creates what holds data: logs, table, buckets, secrets and queue. */
function createStorage(scope: Construct, settings: StageSettings) {
  const log = new ServiceLog(scope, 'Log', settings);
  const accessLogs = settings.accessLogs ? new AccessLogs(scope, 'AccessLogs', settings).bucket : undefined;
  const { table } = new JobsTable(scope, 'Jobs', settings);
  const pictures = new MediaBucket(scope, 'Media', { settings, accessLogs }).bucket;
  const secrets = new ServiceSecrets(scope, 'Secrets', settings);
  const deliveries = new DeliveryQueue(scope, 'Deliveries');
  return { log, accessLogs, table, pictures, secrets, deliveries };
}

type Origins = { http: HttpApi; stream: EventStream; events: EventStream };

/** Creates the console and the distribution before it and the endpoints. */
function createEdge(
  scope: Construct,
  settings: StageSettings,
  { log, accessLogs, secrets, network }: ReturnType<typeof createStorage> & Pick<FunctionContext, 'network'>,
  { http, stream, events }: Origins,
): Edge {
  const site = new ConsoleSite(scope, 'Console', {
    accessLogs,
    log: log.functions,
    network,
    deploy: settings.console,
    keepData: settings.keepData,
  });
  return new Edge(scope, 'Edge', {
    apiHost: http.host,
    stream: stream.origin,
    events: events.origin,
    console: site.bucket,
    hasFiles: settings.console,
    originSecret: secrets.origin,
    accessLogs,
    settings,
  });
}
