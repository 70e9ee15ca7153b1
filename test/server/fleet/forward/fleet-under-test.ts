import type { Test } from "tap";
import {
  adminPassword,
  type GatewayUnderTest,
  startGatewayUnderTest,
  type UnderTestOptions,
} from "../../harness/gateway-under-test.ts";
import {
  createHostsUnderTest,
  type HostsUnderTest,
  type LinkUnderTest,
  openLink,
} from "../../harness/hosts-under-test.ts";

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
