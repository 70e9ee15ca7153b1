import { once } from "node:events";
import * as http2 from "node:http2";
import * as net from "node:net";
import type { Test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { FleetHost, FleetHosts } from "../../../../server/fleet/forward/fleet-hosts.ts";
import type { HostLink } from "../../../../server/fleet/links/host-link.ts";
import { fleetReasons } from "../../../../server/fleet/reasons.ts";
import {
  adminPassword,
  type GatewayUnderTest,
  startGatewayUnderTest,
  type UnderTestOptions,
} from "../../harness/gateway-under-test.ts";

/** A connection of an agent to the hub, over a socket of its own. */
export interface LinkUnderTest {
  readonly link: HostLink;
  /** The end at the hub. */
  readonly socket: net.Socket;
  /** Breaks the connection, as the death of the agent does. */
  cut(): void;
}

/** Opens a connection that `serve` serves at the other end. */
export async function openLink(
  t: Pick<Test, "teardown">,
  host: string,
  serve: (connection: net.Socket) => void,
): Promise<LinkUnderTest> {
  const server = net.createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as net.AddressInfo;
  const accepted = once(server, "connection") as Promise<[net.Socket]>;
  const agentEnd = net.connect(port, "127.0.0.1");
  const [socket] = await accepted;
  server.close();
  agentEnd.on("error", () => {});
  socket.on("error", () => {});
  serve(agentEnd);
  const session = http2.connect(`http://${host}`, { createConnection: () => socket });
  session.on("error", () => {});
  const closed = new AbortController();
  const lost = () =>
    new InfraError(fleetReasons.HOST_UNREACHABLE, `the connection to the host ${host} is lost`);
  session.once("close", () => closed.abort(lost()));
  const cut = () => agentEnd.destroy();
  t.teardown(() => {
    cut();
    session.destroy();
  });
  return {
    socket,
    cut,
    link: {
      host,
      id: host,
      closed: closed.signal,
      request(headers) {
        if (session.closed || session.destroyed) {
          throw lost();
        }
        return session.request(headers);
      },
      close: () => session.close(),
    },
  };
}

const sandboxDomains = new Set(["volumes", "hypervisors", "pods", "backups"]);

/** Hosts that a test can add, disconnect and change. */
export interface HostsUnderTest extends FleetHosts {
  set(name: string, link: HostLink | undefined, domains?: ReadonlySet<string>): void;
}

export function createHostsUnderTest(): HostsUnderTest {
  const byName = new Map<string, FleetHost>();
  return {
    find: (name) => byName.get(name),
    hosts: () => [...byName.values()],
    set(name, link, domains = sandboxDomains) {
      byName.set(name, { name, link, domains });
    },
  };
}

export interface FleetUnderTest {
  readonly hub: GatewayUnderTest;
  readonly hosts: HostsUnderTest;
  agent(name: string): GatewayUnderTest;
  link(name: string): LinkUnderTest;
  /** `authorization` of the hub's admin. */
  readonly authorization: string;
}

/**
 * Starts a hub with logins, and a sandbox as each host.
 * @param settings of the hub
 */
export async function startFleetUnderTest(
  t: Test,
  names: readonly string[] = ["node-1"],
  settings: Record<string, unknown> = {},
  options: UnderTestOptions & {
    readonly agentSettings?: Record<string, unknown>;
    readonly agentOptions?: UnderTestOptions;
  } = {},
): Promise<FleetUnderTest> {
  const { agentSettings, agentOptions, ...hubOptions } = options;
  const hosts = createHostsUnderTest();
  const agents = new Map<string, GatewayUnderTest>();
  const links = new Map<string, LinkUnderTest>();
  for (const name of names) {
    const agent = await startGatewayUnderTest(
      t,
      { host: name, ...agentSettings },
      { hasLogin: true, ...agentOptions },
    );
    const link = await openLink(t, name, (connection) => agent.gateway.serveHub(connection, "hub-1:8443"));
    agents.set(name, agent);
    links.set(name, link);
    hosts.set(name, link.link);
  }
  const hub = await startGatewayUnderTest(
    t,
    { host: "hub-1", ...settings },
    { hasLogin: true, ...hubOptions, fleetHosts: hosts },
  );
  return {
    hub,
    hosts,
    agent: (name) => known(agents, name),
    link: (name) => known(links, name),
    authorization: await logIn(hub.url),
  };
}

/** Logs in as the admin, and returns the value of the header `authorization`. */
export async function logIn(url: string): Promise<string> {
  const response = await fetch(`${url}/services.auth.AuthService/Login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: adminPassword }),
  });
  const { token } = (await response.json()) as { readonly token: string };
  return `Bearer ${token}`;
}

function known<T>(map: ReadonlyMap<string, T>, name: string): T {
  const found = map.get(name);
  if (found === undefined) {
    throw new TypeError(`the test has no host ${name}`);
  }
  return found;
}
