import { registerHooks } from 'node:module';

/**
 * Preload of AWS's runtime client, for which this empty module stands in the place of the native HTTP client. With
 * `AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1` the runtime client fetches its events in JavaScript, as it sends
 * streamed responses; the native client would send only the results of other handlers.
 */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === './rapid-client.node'
      ? { url: import.meta.url, shortCircuit: true }
      : next(specifier, context),
});
