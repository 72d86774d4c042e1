import { Duration } from 'aws-cdk-lib';
import { HeadersFrameOption, HeadersReferrerPolicy, ResponseHeadersPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { Construct } from 'constructs';

/** What every answer says to browsers; pages of the console say in addition where they may load from. */
export class EdgeHeaders extends Construct {
  readonly api: ResponseHeadersPolicy;
  readonly console: ResponseHeadersPolicy;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const shared = {
      strictTransportSecurity: {
        accessControlMaxAge: Duration.days(365),
        includeSubdomains: true,
        override: true,
      },
      contentTypeOptions: { override: true },
      frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
      referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
    };
    this.api = new ResponseHeadersPolicy(this, 'Api', { securityHeadersBehavior: shared });
    this.console = new ResponseHeadersPolicy(this, 'Console', {
      securityHeadersBehavior: {
        ...shared,
        contentSecurityPolicy: { contentSecurityPolicy: consolePolicy, override: true },
      },
    });
  }
}

/** Scripts and requests stay on the host; pictures come through the API as blobs. */
const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
