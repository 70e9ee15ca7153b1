import type { UniversalHandler, UniversalHandlerFn } from "@connectrpc/connect/protocol";

/** Returns a copy of a handler that answers by `handle`. */
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
