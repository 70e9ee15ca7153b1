import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { enroll } from "../../../server/fleet/agent/enroll.ts";
import { type HubLinks, openHubLinks } from "../../../server/fleet/agent/hub-links.ts";
import { createSigningRequest } from "../../../server/fleet/authority/issue-certificate.ts";
import { parseJoinToken } from "../../../server/fleet/join-token.ts";
import { configSchema } from "../../../server/gateway/config/schema.ts";
import { startGateway } from "../../../server/gateway/start-gateway.ts";
import type { Target } from "../load/target.ts";
import { answerParent, cpuMs } from "../servers/bench-process.ts";
import { unlimitedCallers } from "./unlimited-callers.ts";

// The hosts of a fleet: one sandbox that is connected to the hub as many hosts, each with its own certificate and connection.

const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
const version = "0.1.0";
const gateway = await startGateway({
  config: configSchema.parse({
    data: directory,
    listen: [{ address: "127.0.0.1:0" }],
    limits: unlimitedCallers,
  }),
  isSandbox: true,
  version,
  logger: pino({ level: "error" }, pino.destination(2)),
  secrets: {},
  onFatal: (error) => {
    throw error;
  },
});
const server = { serve: gateway.serveHub, close() {} };
const log = { info() {}, warn() {} };
const links: HubLinks[] = [];

const answers = {
  /** Returns the sandbox itself, for calls without a hub. */
  async target(): Promise<Target> {
    const token = await gateway.sandboxToken();
    const port = Number(gateway.addresses[0]?.split(":").at(-1));
    return token === undefined ? { port } : { port, token };
  },
  cpuMs,
  /** Joins the fleet as one host for each token, and connects. */
  async join(tokens: readonly string[]): Promise<void> {
    for (const token of tokens) {
      const key = await createSigningRequest();
      const membership = await enroll(parseJoinToken(token), `node-${links.length + 1}`, key);
      const { hubs } = membership;
      links.push(openHubLinks({ membership: () => membership, hubs, server, version, log }));
    }
  },
  connected: (): number =>
    links.filter((each) => each.states().every(({ isConnected }) => isConnected)).length,
};

export type Agents = typeof answers;

answerParent(answers, async () => {
  await Promise.all(links.map((each) => each.close()));
  await gateway.close();
  await rm(directory, { recursive: true, force: true });
});
