import type { Interceptor } from "@connectrpc/connect";
import type { Session } from "../table/session.ts";
import { UsageError } from "../table/usage-error.ts";
import { createPinnedAgent, trustedAuthorities } from "./certificate-pin.ts";
import type { RemoteContext } from "./contexts.ts";
import { createTransportSession } from "./transport-session.ts";

/** Access to a remote gateway. Without a token it is only good for logging in. */
export type RemoteAccess = Pick<RemoteContext, "url" | "pin"> & { readonly token?: string };

/**
 * Opens a session with a remote gateway. Close it, so that kept connections do not keep the process running.
 */
export async function openRemoteSession({
  url,
  pin,
  token,
}: RemoteAccess): Promise<{ readonly session: Session; close(): void }> {
  const { createConnectTransport } = await import("@connectrpc/connect-node");
  const { Agent: HttpAgent } = await import("node:http");
  const { Agent: HttpsAgent } = await import("node:https");
  const isTls = url.startsWith("https:");
  const agent = !isTls
    ? new HttpAgent({ keepAlive: true })
    : pin === undefined
      ? new HttpsAgent({ keepAlive: true, ca: trustedAuthorities() })
      : createPinnedAgent(pin);
  const authorize: Interceptor = (next) => (request) => {
    if (token !== undefined) {
      request.header.set("authorization", `Bearer ${token}`);
    }
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "1.1",
    nodeOptions: { agent },
    interceptors: [authorize],
  });
  return { session: createTransportSession(transport), close: () => agent.destroy() };
}

/**
 * Checks the URL of a gateway. Returns it without a trailing slash.
 * @throws UsageError when it is not a URL, or a cleartext one of another host without `isInsecure`
 */
export function parseGatewayUrl(text: string, isInsecure: boolean): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new UsageError(
      `expected the URL of a gateway, such as https://gateway.example.org:8080, got "${text}"`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError("the URL must not contain a password: every user of the host can read arguments");
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname) && !isInsecure) {
    throw new UsageError(`${url.host} would get the password in cleartext: use https, or add --insecure`);
  }
  return url;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
