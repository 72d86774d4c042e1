import { Stack } from 'aws-cdk-lib';
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { errorResponse } from '../../adapters/http/error-envelope.ts';
import { RateLimitedError } from '../../core/errors.ts';
import { StageError } from '../stages/read-stage.ts';

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
export class RateRule extends Construct {
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
