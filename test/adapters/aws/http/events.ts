type Fields = {
  method?: string;
  rawPath?: string;
  rawQueryString?: string;
  headers?: Record<string, string>;
  body?: string;
  isBase64Encoded?: boolean;
};

/** Request in payload format 2.0 of the HTTP API (AWS documentation). Function URLs send the same. */
export function httpEvent({ method = 'GET', rawPath = '/healthz', ...fields }: Fields = {}) {
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: '',
    headers: {},
    requestContext: {
      accountId: '123456789012',
      apiId: 'api-id',
      domainName: 'origin.example',
      domainPrefix: 'origin',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'agent' },
      requestId: 'id',
      routeKey: '$default',
      stage: '$default',
      time: '12/Mar/2026:19:03:58 +0000',
      timeEpoch: 1583348638390,
    },
    isBase64Encoded: false,
    ...fields,
  };
}
