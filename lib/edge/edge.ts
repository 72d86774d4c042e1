import { Duration, SecretValue, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  Distribution,
  HttpVersion,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
} from 'aws-cdk-lib/aws-cloudfront';
import type { BehaviorOptions } from 'aws-cdk-lib/aws-cloudfront';
import { FunctionUrlOrigin, HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { IFunctionUrl } from 'aws-cdk-lib/aws-lambda';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { originSecretHeader } from '../../adapters/aws/http/origin-headers.ts';
import { functionUrlPaths, maxOriginSeconds } from '../../adapters/aws/http/origins.ts';
import { endpoints } from '../../adapters/http/endpoints/endpoints.ts';
import type { PrivateBucket } from '../private-bucket.ts';
import type { StageSettings } from '../stage/stage-settings.ts';
import { EdgeBehaviors } from './edge-behaviors.ts';
import { globalName } from './edge-headers.ts';

type Props = {
  apiHost: string;
  streamUrl: IFunctionUrl;
  console: PrivateBucket;
  originSecret: Secret;
  accessLogs: PrivateBucket | undefined;
  settings: Pick<StageSettings, 'domain' | 'webAclArn' | 'originSecretVersion'>;
};

/** Paths that go to the function URL: by path, never by Accept. An MCP tool can be any endpoint. */
export const streamPaths = [...functionUrlPaths(endpoints), '/mcp'];

/**
 * Errors are kept for 10 s where nothing else is said, also where nothing is cached, and by the path alone: one caller's 403 or 404 would be the next
 * one's. All statuses for which CloudFront has such a time.
 */
const errorStatuses = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/** One address for everything, and the only way to it. */
export class Edge extends Construct {
  readonly distribution: Distribution;
  /** The host that callers use. */
  readonly host: string;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const { domain, webAclArn, originSecretVersion } = props.settings;
    const behaviors = new EdgeBehaviors(this, 'Behaviors');
    const customHeaders = { [originSecretHeader]: secretText(props.originSecret, originSecretVersion) };
    // Half a minute of the function and what goes before: the HTTP API ends at 30 s, the rest sends something every 15 s or ends by itself.
    const timing = {
      readTimeout: Duration.seconds(maxOriginSeconds),
      keepaliveTimeout: Duration.seconds(60),
    };
    const stream = behaviors.stream(new FunctionUrlOrigin(props.streamUrl, { ...timing, customHeaders }));
    const originAccessControl = new S3OriginAccessControl(this, 'ConsoleAccess', {
      originAccessControlName: globalName(this, 'console'),
    });
    const site = behaviors.console(
      S3BucketOrigin.withOriginAccessControl(props.console, { originAccessControl }),
    );
    this.distribution = new Distribution(this, 'Distribution', {
      comment: 'Watchpost',
      defaultBehavior: behaviors.api(new HttpOrigin(props.apiHost, { ...timing, customHeaders })),
      additionalBehaviors: { ...each(streamPaths, stream), '/console*': site },
      errorResponses: errorStatuses.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(domain && {
        domainNames: [domain.name],
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      }),
      ...(webAclArn && { webAclId: webAclArn }),
      ...(props.accessLogs && { logBucket: props.accessLogs, logFilePrefix: 'edge/' }),
    });
    this.host = domain?.name ?? this.distribution.distributionDomainName;
    this.#explain(props);
  }

  #explain({ accessLogs, settings: { domain, webAclArn } }: Props): void {
    const explain = (id: string, reason: string) =>
      Validations.of(this.distribution).acknowledge({ id: `AwsSolutions-${id}`, reason });
    explain('CFR1', 'Who may use the service is decided by its keys, not by where a caller is.');
    if (!webAclArn)
      explain(
        'CFR2',
        'A web ACL costs more than a small deployment, and every request needs a key; the setting webAclArn adds one.',
      );
    if (!accessLogs) explain('CFR3', 'The stage sets accessLogs to false.');
    if (!domain)
      explain(
        'CFR4',
        'With the certificate of *.cloudfront.net the TLS versions cannot be chosen; with the setting domain it is TLS 1.2 and later.',
      );
  }
}

/** A dynamic reference: CloudFormation reads the secret at deployment, the template never has it. */
function secretText(secret: Secret, versionId: string | undefined): string {
  return SecretValue.secretsManager(secret.secretArn, versionId ? { versionId } : {}).unsafeUnwrap();
}

function each(paths: readonly string[], behavior: BehaviorOptions): Record<string, BehaviorOptions> {
  return Object.fromEntries(paths.map((path) => [path, behavior]));
}
