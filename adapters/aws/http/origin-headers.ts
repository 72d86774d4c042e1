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

/**
 * Headers with the further hosts of the deployment, separated by commas: those of its origins, which CloudFront adds,
 * and that of its distribution, by the function.
 */
export const originHostsHeader = 'x-watchpost-origin-hosts';
export const distributionHostHeader = 'x-watchpost-distribution-host';
