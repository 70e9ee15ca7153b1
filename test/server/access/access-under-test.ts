import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Client as RpcClient } from "@connectrpc/connect";
import type { Test } from "tap";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { VGService } from "../../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import {
  adminPassword,
  type GatewayUnderTest,
  startGatewayUnderTest,
} from "../harness/gateway-under-test.ts";
import {
  type Client,
  eventStreamProtocols,
  type Protocol,
  protocols,
  streamProtocols,
} from "../harness/protocols.ts";
import { rpcErrorFrom } from "../harness/rpc-error.ts";
import { createAuthority, type IssuedCertificate } from "../rpc/listener/authority.ts";

/** A gateway over TLS that requires logins, with a user of each kind. */
export interface AccessUnderTest {
  readonly url: string;
  readonly log: GatewayUnderTest["log"];
  /**
   * Returns a token for `viewer`, `operator`, `admin` (each with the role of its name) or `limited` (an operator limited to
   * proto.VGService).
   */
  logIn(user: string): Promise<string>;
  /** Returns the cookie of such a login, as a browser would send it. */
  cookieOf(user: string): Promise<string>;
  readonly expiredToken: string;
  readonly foreignToken: string;
  readonly apiTokenName: string;
  /** Token of an operator. */
  readonly apiToken: string;
  readonly viewerCertificate: IssuedCertificate;
  readonly strangerCertificate: IssuedCertificate;
  /** Adds what a client needs to trust the gateway's certificate. */
  trust(client: Client): Client;
  clientOf<S extends DescService>(service: S, client: Client): RpcClient<S>;
  /** Opens a stream over each protocol. Each promise resolves with the reason that the stream ends with. */
  watches(client: Client): Promise<string>[];
}

const password = adminPassword;

/** Starts the gateway after two earlier runs on the same data, and closes it with the test. */
export async function startAccessUnderTest(t: Test): Promise<AccessUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-access-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const authority = await createAuthority(t, "hostplane test authority");
  const server = await authority.issue("/CN=localhost", "subjectAltName = DNS:localhost,IP:127.0.0.1");
  const files = { ...server, ca: authority.cert };
  const paths = Object.fromEntries(Object.keys(files).map((name) => [name, join(directory, `${name}.pem`)]));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(paths[name] ?? "", content, { mode: 0o600 });
  }
  const settings = {
    data: join(directory, "data"),
    listen: [
      {
        address: "127.0.0.1:0",
        tls: {
          cert: paths.cert,
          key: paths.key,
          clientCa: paths.ca,
          clientCertificate: "optional",
        },
      },
    ],
  };
  const ca = authority.cert.toString();
  const trust = (client: Client): Client => ({ ...client, tls: { ...client.tls, ca } });
  const [connectJson] = protocols as readonly [Protocol];

  /** Returns a token from a gateway that ran earlier on the same store with other settings. */
  async function tokenOfEarlierRun(audience: string, tokenHours: number): Promise<string> {
    const options = { hasLogin: true, tokenHours };
    const earlier = await startGatewayUnderTest(t, { ...settings, auth: { audience } }, options);
    const transport = connectJson.createTransport(earlier.url, trust({}));
    const { token } = await createClient(AuthService, transport).login({ username: "admin", password });
    await earlier.gateway.close();
    return token;
  }

  const expiredToken = await tokenOfEarlierRun("hostplane", 1e-7);
  const foreignToken = await tokenOfEarlierRun("another-gateway", 12);
  const { url, log } = await startGatewayUnderTest(t, settings, { hasLogin: true });
  const clientOf = <S extends DescService>(service: S, client: Client) =>
    createClient(service, connectJson.createTransport(url, trust(client)));

  async function logIn(user: string): Promise<string> {
    return (await clientOf(AuthService, {}).login({ username: user, password })).token;
  }

  const admin = clientOf(UserService, { headers: { authorization: `Bearer ${await logIn("admin")}` } });
  await admin.createUser({
    name: "viewer",
    role: Role.VIEWER,
    password,
    certificateNames: ["CN=dashboard"],
  });
  await admin.createUser({ name: "operator", role: Role.OPERATOR, password });
  await admin.createUser({ name: "limited", role: Role.OPERATOR, password, services: ["proto.VGService"] });
  const apiTokenName = "machine";
  const { token: apiToken } = await admin.createApiToken({ name: apiTokenName, role: Role.OPERATOR });

  return {
    url,
    log,
    logIn,
    async cookieOf(user) {
      let cookie = "";
      const headers = { "hostplane-session": "cookie" };
      await clientOf(AuthService, { headers }).login(
        { username: user, password },
        {
          onHeader(header) {
            cookie = header.get("set-cookie")?.split(";")[0] ?? "";
          },
        },
      );
      return cookie;
    },
    expiredToken,
    foreignToken,
    apiTokenName,
    apiToken,
    viewerCertificate: await authority.issue("/CN=dashboard"),
    strangerCertificate: await authority.issue("/CN=stranger"),
    trust,
    clientOf,
    watches: (client) =>
      [...streamProtocols, ...eventStreamProtocols].map(async (protocol) => {
        const transport = protocol.createTransport(url, trust(client));
        try {
          for await (const _state of createClient(VGService, transport).watch({})) {
            // The states do not matter, only the end.
          }
          return "ended without an error";
        } catch (thrown) {
          return rpcErrorFrom(thrown).reason ?? rpcErrorFrom(thrown).code;
        }
      }),
  };
}
