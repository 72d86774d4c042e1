import { Duration, Size, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import type { ILayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { explainWildcards } from './explain-wildcards.ts';
import type { ServiceLog } from './service-log.ts';
import type { StageSettings } from './stage/stage-settings.ts';

/** What all functions are made with. */
export type FunctionGround = {
  /** The folder with one bundle a function. */
  bundles: string;
  log: ServiceLog;
  settings: StageSettings;
};

/** A function's variables, without those that all functions have from here. */
export type OwnEnvironment<Environment> = Omit<Environment, 'LOG_LEVEL' | 'POWERTOOLS_SERVICE_NAME'>;

type Terms = {
  conditions?: Record<string, Record<string, unknown>>;
  /** Why a resource has a `*`. */
  wildcardSince?: string;
};

type Name = keyof StageSettings['reservedConcurrency'];

type Props = {
  name: Name;
  memoryMegabytes: number;
  timeoutSeconds: number;
  environment: Record<string, string | undefined>;
  storageMegabytes?: number;
  layers?: ILayerVersion[];
  /** For what was called asynchronously and failed to the last. */
  deadLetters?: IQueue;
};

/** One of the Lambda functions, with a role that may do nothing but log and trace until something is added by `allow`. */
export class ServiceFunction extends Construct {
  readonly lambda: Function;
  readonly timeoutSeconds: number;

  constructor(scope: Construct, id: string, { bundles, log, settings }: FunctionGround, props: Props) {
    super(scope, id);
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const reserved = settings.reservedConcurrency[props.name];
    this.timeoutSeconds = props.timeoutSeconds;
    this.lambda = new Function(this, 'Function', {
      description: `Watchpost: ${props.name}`,
      role,
      runtime: Runtime.NODEJS_24_X,
      architecture: settings.architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64,
      code: Code.fromAsset(`${bundles}/${props.name}`),
      handler: 'index.handler',
      memorySize: props.memoryMegabytes,
      timeout: Duration.seconds(props.timeoutSeconds),
      tracing: Tracing.ACTIVE,
      logGroup: log.functions,
      loggingFormat: LoggingFormat.JSON,
      // Lambda's own START, END and REPORT lines would be most of a quiet function's log. Its times are metrics anyway.
      systemLogLevelV2: SystemLogLevel.WARN,
      // Metrics are lines of the log without a level: above INFO they would be dropped. The logger knows LOG_LEVEL.
      applicationLogLevelV2:
        settings.logLevel === 'debug' ? ApplicationLogLevel.DEBUG : ApplicationLogLevel.INFO,
      environment: {
        ...given(props.environment),
        LOG_LEVEL: settings.logLevel,
        POWERTOOLS_SERVICE_NAME: Stack.of(this).stackName,
      },
      ...(props.storageMegabytes && { ephemeralStorageSize: Size.mebibytes(props.storageMegabytes) }),
      ...(props.layers && { layers: props.layers }),
      ...(props.deadLetters && { deadLetterQueue: props.deadLetters }),
      ...(reserved !== undefined && { reservedConcurrentExecutions: reserved }),
    });
    this.allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [log.functions.logGroupArn]);
    if (!props.deadLetters) this.#explainDeadLetters();
    this.#explainTracing();
  }

  /** Actions on named resources; there is no other way to a permission. Throws for a `*` in a resource that has no reason. */
  allow(actions: string[], resources: string[], { conditions, wildcardSince }: Terms = {}): void {
    this.lambda.addToRolePolicy(
      new PolicyStatement({ actions, resources, ...(conditions && { conditions }) }),
    );
    explainWildcards(this, resources, wildcardSince);
  }

  #explainDeadLetters(): void {
    Validations.of(this.lambda).acknowledge({
      id: 'Serverless-LambdaDLQ',
      reason:
        'It is only called synchronously, where the caller has the error; dead letters are of asynchronous calls.',
    });
  }

  #explainTracing(): void {
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'X-Ray: PutTraceSegments and PutTelemetryRecords take no resource (Service Authorization Reference, X-Ray).',
    });
  }
}

function given(environment: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
