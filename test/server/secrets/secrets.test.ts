import { randomUUID } from "node:crypto";
import { type DescMethod, toBinary, toJsonString } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { AuditEventSchema, AuditService } from "../../../gen/hostplane/v1/audit_pb.ts";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { methodRuleOf } from "../../../server/gateway/method-rules.ts";
import { methodPathOf } from "../../../server/rpc/call/method-rule.ts";
import { hasSecretFields } from "../../../server/rpc/call/secret-fields.ts";
import { binary, type Carrier, json, send } from "../harness/carriers.ts";
import { readContractServices } from "../harness/contract-services.ts";
import { filledMessages } from "../harness/filled-message.ts";
import { adminPassword, startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import type { RawAnswer } from "../harness/raw-request.ts";
import { startTraceCollector } from "../observability/trace-collector.ts";

const methods = (await readContractServices()).flatMap((service) => service.methods);
const withSecrets = methods.filter(({ input }) => hasSecretFields(input));

/** Starts a gateway with every output that could reveal a secret. */
async function startWatchedGateway(t: Test) {
  const collector = await startTraceCollector(t);
  const { gateway, url, log } = await startGatewayUnderTest(
    t,
    { tracing: { endpoint: collector.endpoint } },
    { hasLogin: true, logLevel: "trace" },
  );
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
  const { token } = await createClient(AuthService, transport).login({
    username: "admin",
    password: adminPassword,
  });
  const headers = { authorization: `Bearer ${token}` };

  async function readAudit(): Promise<string> {
    const rows: string[] = [];
    let pageToken = "";
    do {
      const client = createClient(AuditService, transport);
      const page = await client.listEvents({ pageSize: 1000, pageToken }, { headers });
      rows.push(...page.events.map((event) => toJsonString(AuditEventSchema, event)));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return rows.join("\n");
  }

  return {
    url,
    transport,
    headers,
    token,
    /** Returns the text of each output, once the gateway has written everything. */
    async outlets(): Promise<Record<string, string>> {
      const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
      const audit = await readAudit();
      await gateway.close();
      return { metrics, audit, log: JSON.stringify(log), spans: JSON.stringify(collector.requests) };
    },
  };
}

function textOf(answer: RawAnswer): string {
  return JSON.stringify(answer.headers) + JSON.stringify(answer.trailers) + answer.body.toString("latin1");
}

/** Returns the secret as text, and in the usual encodings of bytes. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // The base64 of the middle, for each offset that the secret can have in the encoded data.
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(4, -4),
  );
  return [secret, bytes.toString("hex"), ...shifted];
}

function assertAbsent(t: Test, secret: string, where: string, text: string): void {
  for (const form of formsOf(secret)) {
    t.notOk(text.includes(form), `${secret} (${form}) in ${where}`);
  }
}

test("the contract has requests with secrets, and each can be filled", async (t) => {
  t.ok(withSecrets.length >= 7);
  for (const method of withSecrets) {
    t.ok(
      filledMessages(method.input, "x").some(({ secretFields }) => secretFields.length > 0),
      methodPathOf(method),
    );
  }
});

test("no secret of a request is in any output, whatever the protocol and outcome of the call", async (t) => {
  const gateway = await startWatchedGateway(t);
  const sent: string[] = [];

  async function sendSecret(method: DescMethod, carrier: Carrier, headers: Record<string, string>) {
    const secret = `s3cr3t-${randomUUID()}`;
    const format = carrier.type.endsWith("json") ? "json" : "binary";
    for (const { message, secretFields } of filledMessages(method.input, secret)) {
      if (secretFields.length === 0) {
        continue;
      }
      sent.push(secret);
      const body = format === "json" ? toJsonString(method.input, message) : toBinary(method.input, message);
      const path = `/${methodPathOf(method)}`;
      const answer = await send(gateway.url, carrier, { path, message: body, headers });
      assertAbsent(t, secret, `the answer of ${path} by ${carrier.name}`, textOf(answer));
    }
  }

  for (const method of withSecrets) {
    for (const carrier of [...json, ...binary]) {
      const isUnaryConnect = !carrier.isEnveloped;
      if (method.methodKind !== "unary" && isUnaryConnect) {
        continue;
      }
      await sendSecret(method, carrier, gateway.headers);
      await sendSecret(method, carrier, {});
    }
  }
  t.ok(sent.length >= withSecrets.length * 20);
  // The same search finds text that is not secret.
  const open = `open-${randomUUID()}`;
  const [carrier] = json;
  if (carrier !== undefined) {
    const message = JSON.stringify({ name: open });
    await send(gateway.url, carrier, {
      path: "/proto.LVService/RemoveLV",
      message,
      headers: gateway.headers,
    });
  }

  const outlets = await gateway.outlets();
  for (const method of withSecrets.filter((each) => methodRuleOf(each).role !== "anyone")) {
    t.match(outlets.audit, `"rpc":"${methodPathOf(method)}"`, "the calls are in the audit log");
    t.match(outlets.log, methodPathOf(method), "the calls are in the log");
  }
  t.match(outlets.audit, open);
  t.match(outlets.log, open);
  t.match(outlets.spans, open);
  for (const [where, text] of Object.entries(outlets)) {
    const found = sent.filter((secret) => formsOf(secret).some((form) => text.includes(form)));
    t.same(found, [], where);
  }
});

test("no secret of malformed requests or of headers is in any output", async (t) => {
  const gateway = await startWatchedGateway(t);
  const secret = "24682468135713";
  const broken = [
    `{"password":${secret}`,
    `{"password":${secret}}`,
    `{"password":["${secret}"]}`,
    `{"${secret}":1}`,
    `{"dataSource":{"s3":"${secret}"}}`,
    `{"json":"${secret}","binary":"${secret}"}`,
    secret,
  ];
  for (const method of withSecrets) {
    for (const carrier of json.filter(({ isEnveloped }) => isEnveloped || method.methodKind === "unary")) {
      for (const message of broken) {
        const path = `/${methodPathOf(method)}`;
        await send(gateway.url, carrier, { path, message, headers: gateway.headers });
      }
    }
  }
  const headers: Record<string, string>[] = [
    { authorization: `Bearer ${secret}` },
    { authorization: `Bearer hpt_${secret}` },
    { authorization: `Basic ${secret}` },
    { authorization: secret },
    { cookie: `hostplane_session=${secret}` },
    { ...gateway.headers, "idempotency-key": secret },
    { ...gateway.headers, "idempotency-key": `${secret} ${secret}` },
    { ...gateway.headers, "hostplane-secret": secret },
  ];
  for (const each of headers) {
    for (const path of ["/proto.VGService/GetFreeBytes", "/proto.LVService/RemoveLV"]) {
      for (const carrier of json) {
        const answer = await send(gateway.url, carrier, { path, message: "{}", headers: each });
        assertAbsent(t, secret, `the answer to ${Object.keys(each)}`, textOf(answer));
      }
    }
  }
  for (const [where, text] of Object.entries(await gateway.outlets())) {
    assertAbsent(t, secret, where, text);
  }
});

test("no password and no token of successful calls, or of idempotent user creation, is in any output", async (t) => {
  const gateway = await startWatchedGateway(t);
  const { transport, headers } = gateway;
  const password = "correct-horse-24682468";
  const users = createClient(UserService, transport);
  const keyed = { headers: { ...headers, "idempotency-key": "the-key-of-24682468" } };
  for (let i = 0; i < 2; i++) {
    await users.createUser({ name: "alice", role: Role.VIEWER, password }, keyed);
  }
  const auth = createClient(AuthService, transport);
  const { token: session } = await auth.login({ username: "alice", password });
  const bearer = { headers: { authorization: `Bearer ${session}` } };
  const newPassword = "another-horse-24682468";
  await users.changePassword({ currentPassword: password, newPassword }, bearer);
  await auth.checkToken({ token: session });
  const { token: apiToken } = await users.createApiToken({ name: "ci", role: Role.VIEWER }, { headers });
  await users.getCaller({}, { headers: { authorization: `Bearer ${apiToken}` } });
  await auth.logout({}, bearer);
  const secrets = [
    password,
    newPassword,
    session,
    apiToken,
    gateway.token,
    adminPassword,
    "the-key-of-24682468",
  ];
  const outlets = await gateway.outlets();
  t.match(outlets.audit, /UserService\/CreateApiToken/);
  t.match(outlets.audit, /AuthService\/Login/);
  for (const [where, text] of Object.entries(outlets)) {
    for (const secret of secrets) {
      assertAbsent(t, secret, where, text);
      // Parts of a token must not be revealed either.
      const tail = secret.slice(-24);
      t.notOk(tail.length > 20 && text.includes(tail), `the end of ${secret} in ${where}`);
    }
  }
});
