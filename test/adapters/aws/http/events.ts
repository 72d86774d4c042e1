type Fields = {
  method?: string;
  rawPath?: string;
  rawQueryString?: string;
  headers?: Record<string, string>;
  body?: string;
  isBase64Encoded?: boolean;
};

/** Request in payload format 1.0 of a REST API (AWS documentation). */
export function restEvent({ headers = {}, rawQueryString = '', ...fields }: Fields = {}) {
  const query = [...new URLSearchParams(rawQueryString)];
  return {
    resource: '/{proxy+}',
    path: fields.rawPath ?? '/healthz',
    httpMethod: fields.method ?? 'GET',
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: query.length > 0 ? Object.fromEntries(query) : null,
    multiValueQueryStringParameters:
      query.length > 0
        ? Object.fromEntries(query.map(([name]) => [name, new URLSearchParams(rawQueryString).getAll(name)]))
        : null,
    pathParameters: { proxy: (fields.rawPath ?? '/healthz').slice(1) },
    stageVariables: null,
    requestContext: {
      resourcePath: '/{proxy+}',
      httpMethod: fields.method ?? 'GET',
      path: `/live${fields.rawPath ?? '/healthz'}`,
      stage: 'live',
      domainName: 'rest.example',
      requestId: 'id',
    },
    body: fields.body ?? null,
    isBase64Encoded: fields.isBase64Encoded ?? false,
  };
}

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
