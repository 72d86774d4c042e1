/** Headers that CloudFront adds to each request, shared by the stack and the functions. */

/**
 * Header with the origin secret, added by CloudFront, which replaces a viewer's header. Requests without it did not
 * come through CloudFront.
 */
export const originSecretHeader = 'x-watchpost-origin-secret';

/**
 * Header with the host of the viewer request, always set by a CloudFront Function: CloudFront sends the origin's
 * host as `Host`.
 */
export const viewerHostHeader = 'x-watchpost-host';
