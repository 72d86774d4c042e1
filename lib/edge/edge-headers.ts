import { Duration, Stack } from 'aws-cdk-lib';
import { HeadersFrameOption, HeadersReferrerPolicy, ResponseHeadersPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { Construct } from 'constructs';
import { referencePolicy } from '../../adapters/http/reference-files.ts';
import { serviceName } from '../function/service-name.ts';
import { consoleSecurityHeaders } from '../../console/security-headers.ts';

/** Security headers of all responses; console and reference page add their content security policies. */
export class EdgeHeaders extends Construct {
  readonly api: ResponseHeadersPolicy;
  readonly console: ResponseHeadersPolicy;
  readonly docs: ResponseHeadersPolicy;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const shared = {
      strictTransportSecurity: {
        accessControlMaxAge: Duration.days(365),
        // Hosts below a custom domain belong to others.
        includeSubdomains: false,
        override: true,
      },
      contentTypeOptions: { override: true },
      frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
      referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
    };
    this.api = new ResponseHeadersPolicy(this, 'Api', {
      responseHeadersPolicyName: globalName(this, 'api'),
      securityHeadersBehavior: shared,
    });
    const {
      'Content-Security-Policy': contentSecurityPolicy,
      'Permissions-Policy': permissions,
      'Cross-Origin-Opener-Policy': opener,
    } = consoleSecurityHeaders;
    this.console = new ResponseHeadersPolicy(this, 'Console', {
      responseHeadersPolicyName: globalName(this, 'console'),
      customHeadersBehavior: {
        customHeaders: [
          { header: 'Permissions-Policy', value: permissions, override: true },
          { header: 'Cross-Origin-Opener-Policy', value: opener, override: true },
        ],
      },
      securityHeadersBehavior: {
        ...shared,
        contentSecurityPolicy: { contentSecurityPolicy, override: true },
      },
    });
    this.docs = new ResponseHeadersPolicy(this, 'Docs', {
      responseHeadersPolicyName: globalName(this, 'docs'),
      securityHeadersBehavior: {
        ...shared,
        contentSecurityPolicy: { contentSecurityPolicy: referencePolicy, override: true },
      },
    });
  }
}

/**
 * Returns a name with deployment and region. CloudFront names are global per account, and a stage may be in several
 * regions.
 */
export function globalName(scope: Construct, name: string): string {
  return `${serviceName(scope)}-${Stack.of(scope).region}-${name}`;
}
