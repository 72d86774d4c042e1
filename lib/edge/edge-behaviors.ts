import {
  AllowedMethods,
  CachePolicy,
  Function,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  OriginRequestPolicy,
  ViewerProtocolPolicy,
  type BehaviorOptions,
  type IOrigin,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  ResponseHeadersPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { Construct } from 'constructs';
import type { StageSettings } from '../stages/stage-settings.ts';
import { distributionHostHeader, viewerHostHeader } from '../../adapters/aws/http/origins.ts';
import { nestedDocumentPath } from '../../adapters/http/app.ts';
import { sessionCookie, sessionHeaders, sessionPath } from '../../adapters/http/console-session.ts';
import { errorResponse } from '../../adapters/http/error-envelope.ts';
import { UnauthorizedError } from '../../core/errors.ts';
import { Duration, Stack } from 'aws-cdk-lib';
import { referencePolicy } from '../../adapters/http/reference-files.ts';
import { serviceName } from '../function/service-name.ts';
import { consoleSecurityHeaders } from '../../console/security-headers.ts';

/** CloudFront behaviors: the API unchanged and uncached, console and reference page as files. */
export class EdgeBehaviors extends Construct {
  readonly #headers: EdgeHeaders;
  readonly #viewerHost: Function;
  readonly #pages: Record<'console' | 'docs', Function>;

  constructor(scope: Construct, id: string, { allowedOrigins }: Pick<StageSettings, 'allowedOrigins'>) {
    super(scope, id);
    this.#headers = new EdgeHeaders(this, 'Headers');
    this.#viewerHost = this.#function('ViewerHost', admitRequest(allowedOrigins));
    this.#pages = {
      console: this.#function('ConsolePage', showPage('console')),
      docs: this.#function('DocsPage', showPage('docs')),
    };
  }

  api(origin: IOrigin): BehaviorOptions {
    return {
      origin,
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      // Forwards all viewer headers, including Authorization; Host must be that of the origin.
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      responseHeadersPolicy: this.#headers.api,
      // Not a redirect: the key would already be sent in clear text.
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      functionAssociations: onRequest(this.#viewerHost),
    };
  }

  /** Returns the behavior of streams. Compression is off, because it would delay events. */
  stream(origin: IOrigin): BehaviorOptions {
    return { ...this.api(origin), compress: false };
  }

  /** Returns the behavior of the files of the console, or of the reference page. */
  site(folder: 'console' | 'docs', origin: IOrigin): BehaviorOptions {
    return {
      origin,
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      // Few users: an immediate update is worth more than a cache.
      cachePolicy: CachePolicy.CACHING_DISABLED,
      responseHeadersPolicy: this.#headers[folder],
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      functionAssociations: onRequest(this.#pages[folder]),
    };
  }

  #function(id: string, code: string): Function {
    return new Function(this, id, {
      code: FunctionCode.fromInline(code),
      runtime: FunctionRuntime.JS_2_0,
      autoPublish: true,
    });
  }
}

function onRequest(viewerFunction: Function): BehaviorOptions['functionAssociations'] & object {
  return [{ function: viewerFunction, eventType: FunctionEventType.VIEWER_REQUEST }];
}

/** CloudFront Functions in JavaScript runtime 2.0: no modules, one function `handler`. */

/**
 * Forms of what shows the caller, less strictly than the service: `Bearer` in any case, neither checksum nor signatures
 * verified.
 */
const forms = {
  key: '/^bearer wp_[a-z0-9_-]{43}[0-9a-f]{6}$/i',
  proof: '/^[\\w-]{43}$/',
  token: '/^[0-9a-f]{64}\\.\\d{1,15}\\.[\\w-]{1,400}\\.[\\w-]{43}$/',
  code: '/^[0-9a-f]{64}\\.\\d{1,15}\\.[\\w-]{43}$/',
};
const [proofHeader, codeHeader] = [sessionHeaders.proof.toLowerCase(), sessionHeaders.code.toLowerCase()];

/**
 * Sends the requested host and that of the distribution to the origins in headers, and overwrites headers of these
 * names from the viewer. Refuses requests without a key, session or sign-in code of the right form, with the response
 * of the service: they cost no Lambda concurrency, which an account shares. The service validates all of them. A
 * preflight request of an allowed origin has none and is forwarded.
 */
export function admitRequest(allowedOrigins: readonly string[]): string {
  return `
var origins = ${JSON.stringify(allowedOrigins)};
function has(field, form) {
  return field !== undefined && form.test(field.value);
}
function isOpen(request) {
  var origin = request.headers.origin;
  if (!/^\\/(api|mcp)(\\/|$)/.test(request.uri) || request.uri === '${nestedDocumentPath}') return true;
  return request.method === 'OPTIONS' && origin !== undefined && origins.indexOf(origin.value) !== -1;
}
function showsCaller(request) {
  var headers = request.headers;
  if (headers.authorization) return has(headers.authorization, ${forms.key});
  if (request.uri === '${sessionPath}' && has(headers['${codeHeader}'], ${forms.code})) return true;
  return has(headers['${proofHeader}'], ${forms.proof}) && has(request.cookies['${sessionCookie}'], ${forms.token});
}
function handler(event) {
  var request = event.request;
  if (!isOpen(request) && !showsCaller(request)) {
    return {
      statusCode: 401,
      statusDescription: 'Unauthorized',
      headers: {
        'content-type': { value: 'application/json' },
        'www-authenticate': { value: 'Bearer' },
        'cache-control': { value: 'no-store' },
        'x-content-type-options': { value: 'nosniff' }
      },
      body: { encoding: 'text', data: ${JSON.stringify(JSON.stringify(errorResponse(new UnauthorizedError()).body))} }
    };
  }
  request.headers['${viewerHostHeader}'] = { value: request.headers.host.value };
  request.headers['${distributionHostHeader}'] = { value: event.context.distributionDomainName };
  return request;
}
`.trim();
}

/** Serves the page of a folder for paths without a file name (`/console`, `/console/jobs/…`, `/docs`). */
export function showPage(folder: 'console' | 'docs'): string {
  return `
function handler(event) {
  var request = event.request;
  var name = request.uri.split('/').pop();
  if (name.indexOf('.') === -1) request.uri = '/${folder}/index.html';
  return request;
}
`.trim();
}

/** Security headers of all responses; console and reference page add their content security policies. */
class EdgeHeaders extends Construct {
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
