/**
 * Settings of the clients of AWS. An instance that was frozen may have dead connections, for which the SDK would wait
 * without limits.
 */
export const clientSettings = {
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};
