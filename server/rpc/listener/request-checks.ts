import type { HttpRequest, HttpResponse } from "../protocols/http/http-exchange.ts";
import type { Admission } from "./admission.ts";
import type { ListenerOptions } from "./listener-options.ts";

/** Reports whether a request is served. Otherwise it is refused, or its connection is cut. */
export type AdmitsRequest = (request: HttpRequest, response: HttpResponse) => boolean;

/** Creates the checks of requests before anything of them is read. */
export function createRequestChecks(options: ListenerOptions, admission: Admission): AdmitsRequest {
  const requests = options.unknownCallers?.requests;
  /** A unix socket is protected by its mode. */
  const connections = options.address.kind === "tcp" ? options.unknownCallers?.connections : undefined;

  /** Refuses a request, or cuts its connection, if it is not admitted. Returns whether it did. */
  function refuses(request: HttpRequest, response: HttpResponse): boolean {
    if (hasLeft(request) || admission.refusesRequest(request)) {
      (request.stream?.session ?? request.socket).destroy();
      return true;
    }
    if (headerBytesOf(request) > options.headerBytes) {
      response.writeHead(431);
      response.end();
      return true;
    }
    return false;
  }

  /** Counts a request as unauthenticated until its caller is known. Returns whether the request is served. */
  function track(request: HttpRequest, response: HttpResponse): boolean {
    const connection = connections?.of(request.socket);
    if (connection?.refusesRequest() === true) {
      // Not while Node is reading the connection.
      setImmediate(() => (request.stream?.session ?? request.socket).destroy());
      return false;
    }
    request.usage = requests?.track(request, response, connection);
    if (connections === undefined) {
      request.usage?.identified();
    }
    return true;
  }

  /**
   * Reports whether the connection was reset after the request. The client's address is gone then, and the request must not be
   * taken for one on a unix socket. Node remembers an address that was read before.
   */
  function hasLeft({ socket }: HttpRequest): boolean {
    return options.address.kind === "tcp" && socket.remoteAddress === undefined;
  }

  return (request, response) => !refuses(request, response) && track(request, response);
}

/**
 * Returns the size of a request's header names and values, in bytes. Node enforces the limit for HTTP/1.1, but for HTTP/2 only
 * after the client has acknowledged it: a first request of five times the limit passes, and a client that never acknowledges it
 * has a limit of 16 MiB.
 */
function headerBytesOf({ rawHeaders }: HttpRequest): number {
  let sizeBytes = 0;
  for (const text of rawHeaders) {
    sizeBytes += text.length;
  }
  return sizeBytes;
}
