import type { UniversalHandler, UniversalHandlerFn } from "@connectrpc/connect/protocol";

/** A handler that answers by `handle`, and in everything else is the one it stands around. */
export function wrapHandler(handler: UniversalHandler, handle: UniversalHandlerFn): UniversalHandler {
  const { protocolNames, service, method, requestPath, allowedMethods, supportedContentType } = handler;
  const around: UniversalHandlerFn = (request) => handle(request);
  return Object.assign(around, {
    protocolNames,
    service,
    method,
    requestPath,
    allowedMethods,
    supportedContentType,
  });
}
