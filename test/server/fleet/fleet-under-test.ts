import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Test } from "tap";
import { FleetService, MembershipService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import {
  type GatewayUnderTest,
  startGatewayUnderTest,
  type UnderTestOptions,
} from "../harness/gateway-under-test.ts";

/** A gateway whose admin socket tests can call. */
export interface MemberUnderTest extends GatewayUnderTest {
  /** Its data directory. */
  readonly data: string;
  /** Returns a client on the admin socket. */
  admin<S extends DescService>(service: S): Client<S>;
}

/** Starts a gateway, by default with its own data directory. @param settings keys of the configuration file */
export async function startMemberUnderTest(
  t: Test,
  settings: Record<string, unknown>,
  options: UnderTestOptions = {},
): Promise<MemberUnderTest> {
  const data = settings.data === undefined ? await memberDirectory(t) : String(settings.data);
  const started = await startGatewayUnderTest(t, { ...settings, data }, { hasLogin: true, ...options });
  const transport = createConnectTransport({
    httpVersion: "1.1",
    baseUrl: "http://localhost",
    nodeOptions: { socketPath: join(data, options.isReal === true ? "" : "sandbox", "admin.sock") },
  });
  return { ...started, data, admin: (service) => createClient(service, transport) };
}

/** Creates a data directory whose path leaves room for that of a socket, and removes it with the test. */
export async function memberDirectory(t: Test): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  return data;
}

/** Starts a hub on free ports of loopback. */
export function startHubUnderTest(
  t: Test,
  settings: Record<string, unknown> = {},
  options: UnderTestOptions = {},
): Promise<MemberUnderTest> {
  const fleet = { hub: { listen: "127.0.0.1:0" } };
  // Its name is the address that its tokens contain.
  return startMemberUnderTest(t, { host: "localhost", fleet, ...settings }, options);
}

/** Lets a gateway join the fleet of a hub. */
export async function joinFleet(
  hub: MemberUnderTest,
  agent: MemberUnderTest,
  name: string,
  labels: { name: string; value: string }[] = [],
): Promise<void> {
  const { token } = await hub.admin(FleetService).createHostToken({ labels });
  await agent.admin(MembershipService).joinFleet({ token, name });
}

/** Resolves when a check of the hosts, repeated after each change, succeeds. */
export async function untilHosts(
  hub: Pick<MemberUnderTest, "admin">,
  isMet: (hosts: Awaited<ReturnType<Client<typeof FleetService>["listHosts"]>>["hosts"]) => boolean,
): Promise<void> {
  for await (const { hosts } of hub.admin(FleetService).watchHosts({})) {
    if (isMet(hosts)) {
      return;
    }
  }
}
