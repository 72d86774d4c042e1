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
import { EdgeHeaders } from './edge-headers.ts';
import { admitRequest, showConsolePage } from './viewer-functions.ts';

/** How requests go on from CloudFront: the API as it came and never from a cache, the console as files. */
export class EdgeBehaviors extends Construct {
  readonly #headers: EdgeHeaders;
  readonly #viewerHost: Function;
  readonly #consolePage: Function;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.#headers = new EdgeHeaders(this, 'Headers');
    this.#viewerHost = this.#function('ViewerHost', admitRequest);
    this.#consolePage = this.#function('ConsolePage', showConsolePage);
  }

  api(origin: IOrigin): BehaviorOptions {
    return {
      origin,
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      // Everything that the viewer sent, Authorization too; only Host must be the origin's own.
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      responseHeadersPolicy: this.#headers.api,
      // A redirect would come after a key has crossed the net in the clear.
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      functionAssociations: onRequest(this.#viewerHost),
    };
  }

  /** Compression would hold events back. */
  stream(origin: IOrigin): BehaviorOptions {
    return { ...this.api(origin), compress: false };
  }

  console(origin: IOrigin): BehaviorOptions {
    return {
      origin,
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      // For a few people: a new version that shows at once is worth more than a cache.
      cachePolicy: CachePolicy.CACHING_DISABLED,
      responseHeadersPolicy: this.#headers.console,
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      functionAssociations: onRequest(this.#consolePage),
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
