import {
  AllowedMethods,
  CachePolicy,
  Function,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  OriginRequestPolicy,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import type { BehaviorOptions, IOrigin } from 'aws-cdk-lib/aws-cloudfront';
import { Construct } from 'constructs';
import type { StageSettings } from '../stages/stage-settings.ts';
import { EdgeHeaders } from './edge-headers.ts';
import { admitRequest, showPage } from './viewer-functions.ts';

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
