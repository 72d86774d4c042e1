import { Duration, SecretValue, Validations, Annotations, Stack } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  Distribution,
  HttpVersion,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  type BehaviorOptions,
  type ErrorResponse,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import {
  originHostsHeader,
  originSecretHeader,
  eventStreamPaths,
  functionUrlPaths,
  maxOriginSeconds,
} from '../../adapters/aws/http/origins.ts';
import { evidencePath } from '../../core/delivery/links.ts';
import { endpoints } from '../../adapters/http/endpoints/endpoints.ts';
import type { PrivateBucket } from '../storage/buckets.ts';
import type { StageSettings } from '../stages/stage-settings.ts';
import type { StreamOrigin } from '../api/stream-origin.ts';
import { EdgeBehaviors, globalName } from './edge-behaviors.ts';
import { errorPageFile, pagedStatuses } from './console-site.ts';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource } from 'aws-cdk-lib/aws-logs';
import { describeEdgeLogs, supportsEdgeLogs } from '../stages/region.ts';
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { errorResponse } from '../../adapters/http/error-envelope.ts';
import { RateLimitedError } from '../../core/errors.ts';
import { StageError } from '../stages/read-stage.ts';

type Props = {
  apiHost: string;
  stream: StreamOrigin;
  events: StreamOrigin;
  console: PrivateBucket;
  /** True if the bucket of the console has its files: console, reference page, error pages. */
  hasFiles: boolean;
  originSecret: Secret;
  accessLogs: PrivateBucket | undefined;
  settings: Pick<
    StageSettings,
    'domain' | 'webAclArn' | 'requestsPerAddress' | 'originSecretVersion' | 'allowedOrigins'
  >;
};

/** Paths of the origins `stream` and `events`. An MCP tool can be any endpoint. */
export const streamPaths = [...functionUrlPaths(endpoints), '/mcp', `${evidencePath}/*.mp4`];
export const eventPaths = eventStreamPaths(endpoints);

/**
 * Statuses that CloudFront can cache as errors. The default is 10 s by path alone, even with caching disabled: one
 * caller would receive the 403 or 404 of another.
 */
const errorStatuses = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/** Path of the pages that replace answers of CloudFront and of the origins, in the bucket of the console. */
const errorPagePath = (status: number) => `/console/${errorPageFile(status)}`;

/** CloudFront distribution: the only public address of the service. */
export class Edge extends Construct {
  readonly distribution: Distribution;
  /** Public host name. */
  readonly host: string;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const { domain, requestsPerAddress, originSecretVersion } = props.settings;
    const webAclArn =
      requestsPerAddress === undefined
        ? props.settings.webAclArn
        : new RateRule(this, 'RateRule', requestsPerAddress).webAclArn;
    const behaviors = new EdgeBehaviors(this, 'Behaviors', props.settings);
    const customHeaders = {
      [originSecretHeader]: secretText(props.originSecret, originSecretVersion),
      [originHostsHeader]: [props.apiHost, props.stream.host, props.events.host].join(','),
    };
    // Time budgets of endpoints are shorter; event streams send a comment every 15 s.
    const timing = {
      readTimeout: Duration.seconds(maxOriginSeconds),
      keepaliveTimeout: Duration.seconds(60),
    };
    // More than the budget of a check, 58 s, with the cold starts of three functions. CloudFront permits 120 s (API
    // reference, OriginReadTimeout).
    const streamTiming = { ...timing, readTimeout: Duration.seconds(90) };
    const toStream = (origin: StreamOrigin) =>
      behaviors.stream(origin.createOrigin({ ...streamTiming, customHeaders }));
    const originAccessControl = new S3OriginAccessControl(this, 'ConsoleAccess', {
      originAccessControlName: globalName(this, 'console'),
    });
    const files = S3BucketOrigin.withOriginAccessControl(props.console, { originAccessControl });
    this.distribution = new Distribution(this, 'Distribution', {
      comment: 'Watchpost',
      defaultBehavior: behaviors.api(new HttpOrigin(props.apiHost, { ...timing, customHeaders })),
      additionalBehaviors: {
        ...each(streamPaths, toStream(props.stream)),
        ...each(eventPaths, toStream(props.events)),
        '/console*': behaviors.site('console', files),
        // Without the files, the API answers.
        ...(props.hasFiles && each(['/docs', '/docs/*'], behaviors.site('docs', files))),
      },
      errorResponses: errorStatuses.map((status) => toErrorResponse(status, props.hasFiles)),
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(domain && {
        domainNames: [domain.name],
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      }),
      ...(webAclArn && { webAclId: webAclArn }),
    });
    if (props.accessLogs) new EdgeLogs(this, 'Logs', this.distribution, props.accessLogs);
    this.host = domain?.name ?? this.distribution.distributionDomainName;
    this.#explain(props.settings);
  }

  #explain({ domain, webAclArn, requestsPerAddress }: Props['settings']): void {
    const explain = (id: string, reason: string) =>
      Validations.of(this.distribution).acknowledge({ id: `AwsSolutions-${id}`, reason });
    explain('CFR1', 'API keys control access, not the location of a caller.');
    if (!webAclArn && requestsPerAddress === undefined)
      explain(
        'CFR2',
        'A web ACL costs more than a small deployment, and the edge rejects requests without a key; the settings webAclArn and requestsPerAddress add one.',
      );
    explain(
      'CFR3',
      'The logs of `EdgeLogs` leave out query strings, which those of the distribution contain.',
    );
    if (!domain)
      explain(
        'CFR4',
        'The certificate of *.cloudfront.net does not permit a minimum TLS version; with the setting domain it is TLS 1.2.',
      );
  }
}

function toErrorResponse(httpStatus: number, hasFiles: boolean): ErrorResponse {
  const page = { responseHttpStatus: httpStatus, responsePagePath: errorPagePath(httpStatus) };
  return {
    httpStatus,
    ttl: Duration.seconds(0),
    ...(hasFiles && pagedStatuses.includes(httpStatus) && page),
  };
}

/** Returns a dynamic reference: CloudFormation reads the secret at deployment; the template does not contain it. */
function secretText(secret: Secret, versionId: string | undefined): string {
  return SecretValue.secretsManager(secret.secretArn, versionId ? { versionId } : {}).unsafeUnwrap();
}

function each(paths: readonly string[], behavior: BehaviorOptions): Record<string, BehaviorOptions> {
  return Object.fromEntries(paths.map((path) => [path, behavior]));
}

const prefix = 'edge';

/**
 * Fields of a request (docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html):
 * neither its query string, which signs links to evidence, nor the page that it came from, nor cookies.
 */
const recordFields = [
  'date',
  'time',
  'x-edge-location',
  'c-ip',
  'cs-method',
  'x-host-header',
  'cs-uri-stem',
  'sc-status',
  'cs(User-Agent)',
  'x-edge-result-type',
  'x-edge-request-id',
  'cs-protocol-version',
  'sc-bytes',
  'cs-bytes',
  'time-taken',
];

/**
 * Access logs of CloudFront, standard logging (v2): the older kind has no choice of fields. Its resources exist in
 * us-east-1 only; for a stack in another region, which permits the delivery to its bucket, a command creates them.
 */
class EdgeLogs extends Construct {
  constructor(scope: Construct, id: string, distribution: Distribution, bucket: PrivateBucket) {
    super(scope, id);
    const { account, partition, region } = Stack.of(this);
    const writing = bucket.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('delivery.logs.amazonaws.com')],
        actions: ['s3:PutObject'],
        resources: [bucket.arnForObjects(`${prefix}/*`)],
        conditions: {
          StringEquals: { 'aws:SourceAccount': account },
          ArnLike: { 'aws:SourceArn': `arn:${partition}:logs:us-east-1:${account}:delivery-source:*` },
        },
      }),
    );
    if (!supportsEdgeLogs(region)) {
      Annotations.of(this).addWarningV2('watchpost:edge-logs', describeEdgeLogs(region));
      return;
    }
    const name = globalName(this, 'edge');
    const source = new CfnDeliverySource(this, 'Source', {
      name,
      logType: 'ACCESS_LOGS',
      resourceArn: distribution.distributionArn,
    });
    const destination = new CfnDeliveryDestination(this, 'Destination', {
      name,
      outputFormat: 'w3c',
      destinationResourceArn: `${bucket.bucketArn}/${prefix}`,
    });
    if (writing.policyDependable) destination.node.addDependency(writing.policyDependable);
    const delivery = new CfnDelivery(this, 'Delivery', {
      deliverySourceName: name,
      deliveryDestinationArn: destination.attrArn,
      recordFields,
    });
    delivery.addDependency(source);
  }
}

/**
 * Required region of WAF resources for CloudFront:
 * docs.aws.amazon.com/waf/latest/developerguide/how-aws-waf-works-resources.html
 */
const edgeRegion = 'us-east-1';

const windowSeconds = 300;
const rateLimitedBody = 'rate-limited';
const rateLimited = new RateLimitedError(
  `Your address sends too many requests. Try again in ${windowSeconds} s with fewer of them.`,
  windowSeconds,
);

/**
 * Web ACL that returns 429 to an address above `requestsPerAddress` requests in five minutes. It protects only
 * CloudFront: WAF does not support HTTP APIs and function URLs, whose own addresses return 403. Throws `StageError` in
 * another region, where CloudFormation cannot create it.
 */
class RateRule extends Construct {
  readonly webAclArn: string;

  constructor(scope: Construct, id: string, requestsPerAddress: number) {
    super(scope, id);
    if (Stack.of(this).region !== edgeRegion)
      throw new StageError(
        `requestsPerAddress: a web ACL for CloudFront can only be made in ${edgeRegion}. Make it there yourself and set webAclArn: docs/operate/aws.md has the command.`,
      );
    this.webAclArn = new CfnWebACL(this, 'WebAcl', {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: visible('web-acl'),
      customResponseBodies: {
        [rateLimitedBody]: {
          contentType: 'APPLICATION_JSON',
          content: JSON.stringify(errorResponse(rateLimited).body),
        },
      },
      rules: [
        {
          name: 'requests-per-address',
          priority: 0,
          statement: {
            rateBasedStatement: {
              aggregateKeyType: 'IP',
              limit: requestsPerAddress,
              evaluationWindowSec: windowSeconds,
            },
          },
          action: {
            block: {
              customResponse: {
                responseCode: 429,
                customResponseBodyKey: rateLimitedBody,
                responseHeaders: [{ name: 'retry-after', value: String(windowSeconds) }],
              },
            },
          },
          visibilityConfig: visible('requests-per-address'),
        },
      ],
    }).attrArn;
  }
}

/** Returns a visibility configuration with metrics and without samples, because samples contain headers with keys. */
function visible(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, metricName, sampledRequestsEnabled: false };
}
