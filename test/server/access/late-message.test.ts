import * as http2 from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { CreateLVRequestSchema, LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { adminPassword, startGatewayUnderTest } from "../harness/gateway-under-test.ts";

const password = "a password of a test";

test("a change is refused if its caller has lost the permission before its message arrives", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
  const auth = createClient(AuthService, transport);
  const headersOf = async (username: string, secret: string) => ({
    authorization: `Bearer ${(await auth.login({ username, password: secret })).token}`,
  });
  const headers = await headersOf("admin", adminPassword);
  const users = createClient(UserService, transport);
  for (const name of ["demoted", "removed", "limited"]) {
    await users.createUser({ name, role: Role.OPERATOR, password }, { headers });
  }

  const session = http2.connect(url);
  t.teardown(() => session.destroy());
  /** Sends the headers and the first byte. The returned function sends the rest, and resolves with the call's status. */
  async function begin(caller: Record<string, string>, name: string): Promise<() => Promise<string>> {
    const message = toBinary(CreateLVRequestSchema, create(CreateLVRequestSchema, { name, sizeGb: 1n }));
    const bytes = encodeEnvelope(0, message);
    const { typeName, method } = LVService;
    const stream = session.request({
      ":method": "POST",
      ":path": `/${typeName}/${method.createLV.name}`,
      "content-type": "application/grpc",
      te: "trailers",
      ...caller,
    });
    stream.resume();
    stream.write(bytes.subarray(0, 1));
    // Everything sent before a PING has been read when the PING is answered.
    await new Promise((resolve) => session.ping(resolve));
    return () =>
      new Promise((resolve) => {
        stream.once("trailers", (trailers) => resolve(String(trailers["grpc-status"])));
        stream.once("response", (head) => {
          if (head["grpc-status"] !== undefined) {
            resolve(String(head["grpc-status"]));
          }
        });
        stream.end(bytes.subarray(1));
      });
  }

  const sessionHeaders = await headersOf("removed", password);
  const demoted = await begin(await headersOf("demoted", password), "by-demoted");
  const removed = await begin(sessionHeaders, "by-removed");
  const limited = await begin(await headersOf("limited", password), "by-limited");
  const loggedOut = await headersOf("admin", adminPassword);
  const left = await begin(loggedOut, "by-logged-out");
  const allowed = await begin(headers, "by-admin");
  await users.updateUser({ name: "demoted", role: Role.VIEWER }, { headers });
  await users.deleteUser({ name: "removed" }, { headers });
  await users.updateUser({ name: "limited", services: { services: [VGService.typeName] } }, { headers });
  await auth.logout({}, { headers: loggedOut });

  const [unauthenticated, permissionDenied, ok] = ["16", "7", "0"];
  t.equal(await demoted(), permissionDenied);
  t.equal(await removed(), unauthenticated);
  t.equal(await limited(), permissionDenied);
  t.equal(await left(), unauthenticated);
  t.equal(await allowed(), ok, "a slow caller with permission is served");
  const { volumes } = await createClient(VGService, transport).getLVList({}, { headers });
  t.same(
    volumes.map(({ name }) => name).filter((name) => name.startsWith("by-")),
    ["by-admin"],
  );
});
