import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect as connectTcp } from "node:net";
import { mock } from "node:test";
import { connect as connectTls, createServer } from "node:tls";
import { type Test, test } from "tap";
import { type AgentIdentity, connectToHub, hostAndPort } from "../../../server/fleet/agent/connect-to-hub.ts";
import { enroll } from "../../../server/fleet/agent/enroll.ts";
import {
  type CertifiedKey,
  createFleetAuthority,
  type FleetAuthority,
} from "../../../server/fleet/authority/authority.ts";
import {
  createSigningRequest,
  issueAgentCertificate,
  issueHubCertificate,
  readSigningRequest,
} from "../../../server/fleet/authority/issue-certificate.ts";
import { createAgentsListener } from "../../../server/fleet/hub/agents-listener.ts";
import { createHostLinks } from "../../../server/fleet/hub/host-links.ts";
import { createHostProblems } from "../../../server/fleet/hub/host-problems.ts";
import { rootFingerprintOf } from "../../../server/fleet/join-token.ts";
import { configSchema } from "../../../server/gateway/config/schema.ts";
import { createUnknownCallers } from "../../../server/rpc/listener/unknown-callers/unknown-callers.ts";
import { until } from "../harness/until.ts";

const dayMs = 86_400_000;
const node1 = { name: "node-1", id: randomUUID() };

test("a hub says why it refuses the certificate of an agent", async (t) => {
  const authority = await atDay(-60, createFleetAuthority);
  const foreign = await createFleetAuthority();
  const { address, log } = await startListener(t, authority, await issueHubCertificate(authority));
  const hubAuthorityPem = authority.hubIssuer.certificatePem;
  const refusals: readonly (readonly [shown: CertifiedKey, why: RegExp])[] = [
    [
      await atDay(-40, () => certify(authority)),
      /has expired; the clock of the hub says .*leave and join again/,
    ],
    [await atDay(40, () => certify(authority)), /is not valid yet; the clock of the hub says .*compare it/],
    [await certify(foreign), /was not issued by this fleet/],
    [await issueHubCertificate(authority), /a hub's certificate cannot be used by an agent/],
  ];
  for (const [shown, why] of refusals) {
    await t.rejects(connect(t, address, { ...shown, hubAuthorityPem }), { message: why });
    t.match(log.at(-1), why, "the hub logs it as well");
  }
  const own = { ...(await certify(authority)), hubAuthorityPem };
  await t.resolves(connect(t, address, own));
});

test("a connection that a hub has refused is closed, although the agent keeps it open", async (t) => {
  const authority = await createFleetAuthority();
  const { address } = await startListener(t, authority, await issueHubCertificate(authority));
  const { certificatePem: cert, privateKeyPem: key } = await certify(authority);
  const socket = connectTls({
    socket: connectTcp({ ...hostAndPort(address), allowHalfOpen: true }),
    cert,
    key,
    rejectUnauthorized: false,
  });
  t.teardown(() => socket.destroy());
  let answer = "";
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.write(
    "GET /fleet/link HTTP/1.1\r\nconnection: Upgrade\r\nupgrade: hostplane-link/1\r\nhostplane-version: 9.9.9\r\n\r\n",
  );
  await until(() => /may differ by one minor version/.test(answer));
  // A closed connection rejects what is sent.
  await until(() => {
    socket.write("x");
    return socket.destroyed;
  });
  t.pass("it takes no resources of the hub");
});

test("an agent says why it refuses the certificate of a hub", async (t) => {
  const authority = await atDay(-60, createFleetAuthority);
  const foreign = await createFleetAuthority();
  const identity = { ...(await certify(authority)), hubAuthorityPem: authority.hubIssuer.certificatePem };
  const clock = /; the clock of this host says \d{4}-.*Z: compare it with the hub's/;
  for (const [why, shown] of [
    [clock, await atDay(-40, () => issueHubCertificate(authority))],
    [clock, await atDay(40, () => issueHubCertificate(authority))],
    [/issuer|self.signed/, await issueHubCertificate(foreign)],
    [/purpose/, await certify(authority)],
  ] as const) {
    const { address } = await startListener(t, authority, shown);
    await t.rejects(connect(t, address, identity), { message: why });
  }
});

test("a host whose clock is wrong cannot join, and says so", async (t) => {
  for (const day of [-40, 40]) {
    const authority = await createFleetAuthority();
    const { address } = await startListener(
      t,
      authority,
      await atDay(day, () => issueHubCertificate(authority)),
    );
    const code = Buffer.alloc(32).toString("base64url");
    const joining = enroll(
      { hubs: [address], rootFingerprint: rootFingerprintOf(authority), code },
      "node-1",
      await createSigningRequest(),
    );
    await t.rejects(joining, {
      reason: "HUB_UNREACHABLE",
      message: /certificate .*; the clock of this host says .*: compare it with the hub's/,
    });
  }
});

test("an agent's certificate is none of a server", async (t) => {
  const authority = await createFleetAuthority();
  const [shown, own] = [await certify(authority), await certify(authority)];
  const server = createServer({ cert: shown.certificatePem, key: shown.privateKeyPem });
  await once(server.on("tlsClientError", () => {}).listen(0, "127.0.0.1"), "listening");
  t.teardown(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const identity = { ...own, hubAuthorityPem: authority.hubIssuer.certificatePem };
  await t.rejects(connect(t, `127.0.0.1:${port}`, identity));
});

/** Does something as it would have been done some days from now. */
async function atDay<T>(days: number, work: () => Promise<T>): Promise<T> {
  mock.timers.enable({ apis: ["Date"], now: Date.now() + days * dayMs });
  try {
    return await work();
  } finally {
    mock.timers.reset();
  }
}

/** Returns a certificate of a host. */
async function certify(authority: FleetAuthority): Promise<CertifiedKey> {
  const { privateKeyPem, signingRequest } = await createSigningRequest();
  const publicKey = await readSigningRequest(signingRequest);
  return { certificatePem: await issueAgentCertificate(authority, node1, publicKey), privateKeyPem };
}

async function connect(t: Test, address: string, identity: AgentIdentity): Promise<void> {
  const connection = await connectToHub(address, identity, "0.1.0", new AbortController().signal);
  t.teardown(() => connection.destroy());
}

/** Starts a hub's listener for agents that shows a certificate. */
async function startListener(t: Test, authority: FleetAuthority, certificate: CertifiedKey) {
  const config = configSchema.parse({});
  const log: string[] = [];
  const keep = (message: string) => void log.push(message);
  const links = createHostLinks();
  const problems = createHostProblems({ warn: keep });
  const unknownCallers = createUnknownCallers(config.limits.unknown, 1000, () => {});
  const listener = createAgentsListener({
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    authority,
    certificate,
    config,
    version: "0.1.0",
    unknownCallers,
    links,
    problems,
    isHost: async () => true,
    onRequest: (_request, response) => void response.writeHead(404).end(),
    log: { info: keep, warn: keep },
  });
  await listener.listen();
  t.teardown(async () => {
    links.close();
    problems.close();
    await listener.close(0);
    unknownCallers.close();
  });
  return { address: listener.address(), log };
}
