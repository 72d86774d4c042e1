import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { BucketDeployment, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { Construct } from 'constructs';
import { ownFiles, packageFiles, referencePage } from '../../adapters/http/reference-files.ts';
import { projectFolder } from '../files.ts';
import type { EgressNetwork } from '../delivery/egress-network.ts';
import { suppressAccessLogFindings, PrivateBucket } from '../storage/buckets.ts';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { suppressWildcardFindings } from '../function/service-function.ts';
import { errorResponse, type ErrorEnvelope } from '../../adapters/http/error-envelope.ts';
import { WatchpostError } from '../../core/errors.ts';

type Props = {
  accessLogs: PrivateBucket | undefined;
  log: ILogGroup;
  /** Network of the function that copies the files. */
  network: EgressNetwork | undefined;
  deploy: boolean;
  keepData: boolean;
};

const built = `${projectFolder}console/dist/`;
const placeholder = `${projectFolder}lib/edge/console-placeholder/`;

/**
 * Files of the web console and error pages below `console/`, and of the reference page below `docs/`, in a bucket that
 * only CloudFront reads.
 */
export class ConsoleSite extends Construct {
  readonly bucket: PrivateBucket;

  constructor(scope: Construct, id: string, { accessLogs, log, network, deploy, keepData }: Props) {
    super(scope, id);
    this.bucket = new PrivateBucket(this, 'Bucket', {
      // The files can be built again from the repository.
      removalPolicy: RemovalPolicy.DESTROY,
      autoDeleteObjects: !keepData,
      accessLogs: accessLogs && { bucket: accessLogs, prefix: 'console/' },
    });
    if (!accessLogs) suppressAccessLogFindings(this.bucket);
    if (deploy) this.#deploy(log, network);
  }

  #deploy(logGroup: ILogGroup, network: EgressNetwork | undefined): void {
    const target = { destinationBucket: this.bucket, logGroup, ...network?.placement };
    const deployment = new BucketDeployment(this, 'Files', {
      sources: [
        Source.asset(existsSync(`${built}index.html`) ? built : placeholder),
        ...errorPages.map(({ file, envelope }) => Source.jsonData(file, envelope)),
      ],
      destinationKeyPrefix: 'console',
      ...target,
    });
    new BucketDeployment(this, 'Docs', {
      sources: [
        Source.asset(dirname(packageFiles['swagger-ui.css']), {
          exclude: ['**', ...Object.keys(packageFiles).map((name) => `!${name}`)],
        }),
        Source.data('index.html', referencePage),
        ...Object.entries(ownFiles).map(([name, text]) => Source.data(name, text)),
      ],
      destinationKeyPrefix: 'docs',
      ...target,
    });
    suppressDeploymentFindings(deployment, this.bucket, network !== undefined);
  }
}

/** Acknowledges the cdk-nag findings of the CDK function that copies files to a bucket during a deployment. */
function suppressDeploymentFindings(
  { handlerRole }: BucketDeployment,
  destination: IBucket,
  isInNetwork: boolean,
): void {
  const handler = handlerRole.node.scope;
  if (!handler) throw new Error('Role of the bucket deployment without its function');
  const reason =
    'CDK creates this function and its role to copy console and reference page. It runs only in deployments, reads the CDK assets and is the only role that changes the bucket of the console.';
  const policies = [
    'AWSLambdaBasicExecutionRole',
    ...(isInNetwork ? ['AWSLambdaVPCAccessExecutionRole'] : []),
  ];
  const ids = [
    ...policies.map(
      (name) => `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/${name}]`,
    ),
    ...['s3:GetBucket*', 's3:GetObject*', 's3:List*', 's3:Abort*', 's3:DeleteObject*'].map(
      (action) => `AwsSolutions-IAM5[Action::${action}]`,
    ),
    'AwsSolutions-L1',
    'Serverless-LambdaLatestVersion',
    'Serverless-LambdaDLQ',
    'Serverless-LambdaTracing',
  ];
  Validations.of(handler).acknowledge(...ids.map((id) => ({ id, reason })));
  suppressWildcardFindings(handler, [`${destination.bucketArn}/*`, assets(Stack.of(handler))], reason);
}

/** Returns the ARN pattern of the assets in the `cdk bootstrap` bucket. */
function assets({ partition, account, region, synthesizer }: Stack): string {
  const qualifier = synthesizer.bootstrapQualifier ?? 'hnb659fds';
  return `arn:${partition}:s3:::cdk-${qualifier}-assets-${account}-${region}/*`;
}

/** File below `console/` with the envelope of a status. */
type ErrorPage = { status: number; file: string; envelope: ErrorEnvelope };

/**
 * Pages that CloudFront returns instead of its own answers and those of API Gateway and Lambda. They replace every
 * response of their status, so only statuses are listed that the service never returns: a test compares them with the
 * statuses of its errors.
 */
export const errorPages: readonly ErrorPage[] = [
  page(414, new WatchpostError('BAD_REQUEST', 'Invalid request', 'Shorten the URL: it may have 8192 bytes.')),
  ...[502, 503].map((status) =>
    page(status, internal('Try again with exponential backoff. The service is restarting or at capacity.')),
  ),
  page(
    504,
    internal(
      'The response took too long. If the request starts a job, read GET /jobs first: the job may exist. Then try again with exponential backoff.',
    ),
  ),
];

export const pagedStatuses: readonly number[] = errorPages.map(({ status }) => status);

/** Returns the name of a page below `console/`. */
export function errorPageFile(status: number): string {
  return `errors/${status}.json`;
}

function page(status: number, error: WatchpostError): ErrorPage {
  return { status, file: errorPageFile(status), envelope: errorResponse(error).body };
}

function internal(remediation: string): WatchpostError {
  return new WatchpostError('INTERNAL_ERROR', 'Internal server error', remediation);
}
