import { once } from "node:events";
import * as http2 from "node:http2";
import * as net from "node:net";
import type { Test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { FleetHost, FleetHosts } from "../../../server/fleet/forward/fleet-hosts.ts";
import type { HostLink } from "../../../server/fleet/links/host-link.ts";
import { fleetReasons } from "../../../server/fleet/reasons.ts";

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
  set(
    name: string,
    link: HostLink | undefined,
    domains?: ReadonlySet<string>,
    labels?: Readonly<Record<string, string>>,
  ): void;
}

export function createHostsUnderTest(): HostsUnderTest {
  const byName = new Map<string, FleetHost>();
  return {
    find: (name) => byName.get(name),
    hosts: () => [...byName.values()],
    set(name, link, domains = sandboxDomains, labels = {}) {
      byName.set(name, { name, link, domains, labels });
    },
  };
}
