import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { hubCallerHeader } from "../../rpc/interceptors/known-headers.ts";
import { encodeHubCaller, type HubCaller } from "../caller/hub-caller.ts";
import type { HostLink } from "../links/host-link.ts";

/**
 * Creates a client of a service on a host, whose calls are made as a caller of this hub. Calls fail with a ConnectError, also when
 * the connection breaks; `link.closed` is aborted then.
 * @param maxMessageBytes largest message of the host that is read
 */
export function createHostClient<Service extends DescService>(
  link: HostLink,
  service: Service,
  caller: HubCaller,
  maxMessageBytes: number = 4 * 1024 * 1024,
): Client<Service> {
  const authority = `http://${link.host}`;
  const identity = encodeHubCaller(caller);
  const transport = createConnectTransport({
    httpVersion: "2",
    baseUrl: authority,
    readMaxBytes: maxMessageBytes,
    acceptCompression: [],
    sessionManager: {
      authority,
      request: async (method, path, headers) =>
        link.request({ ...headers, ":method": method, ":path": path, [hubCallerHeader]: identity }),
      notifyResponseByteRead() {},
    },
  });
  return createClient(service, transport);
}
