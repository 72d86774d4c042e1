import { Duration, RemovalPolicy, Size, Validations, Stack, Aws, Fn } from 'aws-cdk-lib';
import { Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  type Alias,
  type IFunction,
  type ILayerVersion,
} from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { EgressNetwork } from '../delivery/egress-network.ts';
import { listKmsCalls, serviceKey, viaService } from '../storage/service-key.ts';
import { serviceName, isWholeStack } from './service-name.ts';
import type { StageSettings } from '../stages/stage-settings.ts';
import { flattenCfnReference } from 'cdk-nag/lib/utils/flatten-cfn-reference.js';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { toRemovalPolicy } from '../storage/buckets.ts';

/** Alias of each function, which everything invokes. */
export const liveAlias = 'live';

/** Returns the description of a function, which its published versions keep. */
export function describeFunction(name: string, release: string): string {
  return `Watchpost: ${name}, release ${release}`;
}

/** Reads the release from a description. Returns undefined for a version without one. */
export function readRelease(description: string | undefined): string | undefined {
  return /^Watchpost: \w+, release (\S+)$/.exec(description ?? '')?.[1];
}

/** Shared inputs of all functions. */
export type FunctionContext = {
  /** Folder with one bundle per function. */
  bundles: string;
  log: ServiceLog;
  settings: StageSettings;
  /** Id of what is deployed (`computeRelease`). */
  release: string;
  /** Network of all functions. Undefined for that of Lambda. */
  network: EgressNetwork | undefined;
};

/** Environment variables of one function, without those that `ServiceFunction` sets for all. */
export type OwnEnvironment<Environment> = Omit<Environment, 'LOG_LEVEL' | 'POWERTOOLS_SERVICE_NAME'>;

type Terms = {
  conditions?: Record<string, Record<string, unknown>>;
  /** Reason for a `*` in a resource. */
  wildcardReason?: string;
};

type Name = keyof StageSettings['reservedConcurrency'];

type Props = {
  name: Name;
  /** Name of the bundle. Default: that of the function. */
  bundle?: string;
  memoryMegabytes: number;
  timeoutSeconds: number;
  environment: Record<string, string | undefined>;
  storageMegabytes?: number;
  layers?: ILayerVersion[];
  /** Network of the function. Undefined for that of all. */
  network?: EgressNetwork | undefined;
  /**
   * True for a function that sends messages which invoke it, as often as the reason at its use says: Lambda drops what
   * passes it about 16 times otherwise.
   */
  invokedByItself?: boolean;
  /** Dead-letter queue for asynchronous invocations that failed all attempts. */
  deadLetters?: IQueue;
};

/** Lambda function with a role that permits only logging; `allow` adds permissions. */
export class ServiceFunction extends Construct {
  readonly lambda: Function;
  /** Published version that everything invokes; a rollback moves it. */
  readonly live: Alias;
  /** The alias as `IFunction`, whose optional members `Alias` types otherwise (`exactOptionalPropertyTypes`). */
  readonly liveFunction: IFunction;
  readonly timeoutSeconds: number;
  readonly #role: Role;
  readonly #kmsCalls = new Set<string>();

  constructor(
    scope: Construct,
    id: string,
    { bundles, log, settings, release, network: ofAll }: FunctionContext,
    props: Props,
  ) {
    super(scope, id);
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.#role = role;
    const reserved = settings.reservedConcurrency[props.name];
    const network = props.network ?? ofAll;
    this.timeoutSeconds = props.timeoutSeconds;
    this.lambda = new Function(this, 'Function', {
      description: describeFunction(props.name, release),
      // Earlier versions remain for a rollback, and those of a deployment that failed are deleted
      // (RetainExceptOnCreate,
      // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html).
      // One that remained would stop another try with "A version for this Lambda function exists", since Lambda
      // publishes no version equal to the newest one.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
      role,
      runtime: Runtime.NODEJS_24_X,
      architecture: settings.architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64,
      code: Code.fromAsset(`${bundles}/${props.bundle ?? props.name}`),
      handler: 'index.handler',
      memorySize: props.memoryMegabytes,
      timeout: Duration.seconds(props.timeoutSeconds),
      logGroup: log.functions,
      loggingFormat: LoggingFormat.JSON,
      // Omits Lambda's START, END and REPORT lines; their times are also metrics.
      systemLogLevelV2: SystemLogLevel.WARN,
      // Metrics are log lines without a level: Lambda drops them above INFO. The logger applies LOG_LEVEL.
      applicationLogLevelV2:
        settings.logLevel === 'debug' ? ApplicationLogLevel.DEBUG : ApplicationLogLevel.INFO,
      environment: {
        ...withoutUndefined(props.environment),
        LOG_LEVEL: settings.logLevel,
        POWERTOOLS_SERVICE_NAME: serviceName(this),
      },
      ...(props.storageMegabytes && { ephemeralStorageSize: Size.mebibytes(props.storageMegabytes) }),
      ...network?.placement,
      ...(props.layers && { layers: props.layers }),
      ...(props.deadLetters && { deadLetterQueue: props.deadLetters }),
      // https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
      ...(props.invokedByItself && { recursiveLoop: RecursiveLoop.ALLOW }),
      ...(reserved !== undefined && { reservedConcurrentExecutions: reserved }),
    });
    this.live = this.lambda.addAlias(liveAlias);
    this.liveFunction = Function.fromFunctionAttributes(this, 'LiveFunction', {
      functionArn: this.live.functionArn,
      sameEnvironment: true,
    });
    this.allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [log.functions.logGroupArn]);
    if (props.deadLetters) this.#allowKey(['sqs:SendMessage']);
    if (network) this.#allowInterfaces();
    if (!props.deadLetters) this.#explainDeadLetters();
    this.#explainTracing();
  }

  /** Grants actions on named resources. Throws for a `*` in a resource without a reason. */
  allow(actions: string[], resources: string[], { conditions, wildcardReason }: Terms = {}): void {
    this.lambda.addToRolePolicy(
      new PolicyStatement({ actions, resources, ...(conditions && { conditions }) }),
    );
    suppressWildcardFindings(this, resources, wildcardReason);
    this.#allowKey(actions);
  }

  /** Grants the calls of KMS that services make for actions of the role. */
  #allowKey(actions: string[]): void {
    const key = serviceKey(this);
    if (!key) return;
    for (const { service, calls } of listKmsCalls(actions)) {
      const made = [service, ...calls].join();
      if (this.#kmsCalls.has(made)) continue;
      this.#kmsCalls.add(made);
      this.lambda.addToRolePolicy(viaService(this, key, service, calls));
    }
  }

  /**
   * Grants the function invocations of itself, a few in a row: Lambda ends longer chains (`invokedByItself`). In a
   * policy of its own: the function depends on the policy of its role, and its alias on the function.
   */
  allowItself(): void {
    const policy = new Policy(this, 'InvokesItself', {
      statements: [
        new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [this.live.functionArn] }),
      ],
    });
    this.#role.attachInlinePolicy(policy);
  }

  /**
   * Permits Lambda to attach the function to a network, and the code of the function none of it: its requests have a
   * source function.
   */
  #allowInterfaces(): void {
    this.allow(
      [
        'ec2:CreateNetworkInterface',
        'ec2:DescribeNetworkInterfaces',
        'ec2:DescribeSubnets',
        'ec2:DeleteNetworkInterface',
        'ec2:AssignPrivateIpAddresses',
        'ec2:UnassignPrivateIpAddresses',
      ],
      ['*'],
      {
        conditions: { Null: { 'lambda:SourceFunctionArn': 'true' } },
        wildcardReason:
          'Lambda checks these permissions without a resource when it attaches a function to a VPC.',
      },
    );
  }

  #explainDeadLetters(): void {
    Validations.of(this.lambda).acknowledge({
      id: 'Serverless-LambdaDLQ',
      reason:
        'The function is only invoked synchronously and returns errors to its caller; dead letters are for asynchronous invocations.',
    });
  }

  #explainTracing(): void {
    Validations.of(this.lambda).acknowledge({
      id: 'Serverless-LambdaTracing',
      reason:
        'Traces without calls to other services add nothing to the metrics; log entries contain the ids of job and request.',
    });
  }
}

function withoutUndefined(environment: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Acknowledges the cdk-nag finding of each resource that contains `*`. Throws if such a resource has no reason. */
export function suppressWildcardFindings(
  on: Construct,
  resources: string[],
  reason: string | undefined,
): void {
  for (const resource of resources) {
    const name = flattenCfnReference(Stack.of(on).resolve(resource));
    if (!name.includes('*')) continue;
    if (reason === undefined) throw new Error(`A wildcard needs a reason: ${name}`);
    Validations.of(on).acknowledge({ id: `AwsSolutions-IAM5[Resource::${name}]`, reason });
  }
}

type LogProps = Pick<StageSettings, 'logDays' | 'keepData'>;

/** Log groups of functions, workflow and API access; entries expire after `logDays`. */
export class ServiceLog extends Construct {
  /** Log group of all functions, so that `/logs` is one query. */
  readonly functions: LogGroup;
  readonly workflow: LogGroup;
  readonly access: LogGroup;

  constructor(scope: Construct, id: string, { logDays, keepData }: LogProps) {
    super(scope, id);
    const key = serviceKey(this);
    const shared = {
      ...(key && { encryptionKey: key }),
      retention: logDays,
      removalPolicy: toRemovalPolicy(keepData),
    };
    this.functions = new LogGroup(this, 'Functions', shared);
    this.workflow = new LogGroup(this, 'Workflow', { ...shared, logGroupName: vended(this, 'workflow') });
    this.access = new LogGroup(this, 'Access', { ...shared, logGroupName: vended(this, 'access') });
  }
}

/**
 * Returns a log group name below `/aws/vendedlogs/`: groups there do not use the shared resource policy, which has at
 * most 5,120 characters. The unique part of the stack id avoids a conflict with groups that an earlier stack retained.
 */
function vended(scope: Construct, name: string): string {
  const unique = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  const service = isWholeStack(scope) ? Aws.STACK_NAME : serviceName(scope);
  return `/aws/vendedlogs/${service}-${unique}/${name}`;
}
