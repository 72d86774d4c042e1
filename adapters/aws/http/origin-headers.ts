/** What CloudFront adds to each request, and the origins read: named once for the stack and for the functions. */

/** Holds the origin secret; a request without it did not come through CloudFront. CloudFront replaces what a viewer sends by this name. */
export const originSecretHeader = 'x-watchpost-origin-secret';

/** The host that the viewer asked for: CloudFront sends the origin's own as `Host`. Set by a CloudFront Function, whatever the viewer sends. */
export const viewerHostHeader = 'x-watchpost-host';
