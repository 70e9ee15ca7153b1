import { Agent, request } from "node:http";
import { connect } from "node:net";
import fc from "fast-check";
import { test } from "tap";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";

/** Number of requests; the long form sends a million. */
const count = Number(process.env.ACCESS_FUZZ ?? 5_000);
const atOnce = 32;
const chunkSize = 5_000;

interface Fuzzed {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly path: string;
}

/** Bytes that HTTP allows in the value of a header. */
const headerText = fc
  .uint8Array({ maxLength: 300 })
  .map((bytes) =>
    Buffer.from(bytes.map((byte) => (byte < 32 || byte === 127 ? 46 : byte))).toString("latin1"),
  );
const jwtLike = fc
  .array(
    fc.oneof(
      fc.base64String(),
      fc.json().map((text) => Buffer.from(text).toString("base64url")),
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((parts) => parts.join("."));
const credential = fc.oneof(
  headerText,
  jwtLike,
  fc.base64String().map((text) => `hpt_${text}`),
);
const anyCase = fc.constantFrom("Bearer ", "bearer ", "BEARER", "Bearer  ", "Basic ", "");

const readPath = "/proto.VGService/GetFreeBytes";
const loginPath = "/services.auth.AuthService/Login";
const checkPath = "/services.auth.AuthService/CheckToken";
const empty = Buffer.from("{}");

const authorization = fc.tuple(anyCase, credential).map(
  ([scheme, text]): Fuzzed => ({
    path: readPath,
    body: empty,
    headers: { authorization: scheme + text },
  }),
);
const cookie = fc
  .tuple(fc.constantFrom("hostplane_session=", "__Host-hostplane_session=", "", ";=;", "a=b; "), credential)
  .map(([name, text]): Fuzzed => ({ path: readPath, body: empty, headers: { cookie: name + text } }));
const login = fc
  .oneof(
    fc.uint8Array({ maxLength: 500 }),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .record({
        username: fc.oneof(fc.string(), fc.anything()),
        password: fc.oneof(fc.string(), fc.anything()),
      })
      .map((value) =>
        Buffer.from(JSON.stringify(value, (_key, each) => (typeof each === "bigint" ? 1 : each))),
      ),
  )
  .map((body): Fuzzed => ({ path: loginPath, body, headers: {} }));
const checked = credential.map(
  (token): Fuzzed => ({
    path: checkPath,
    body: Buffer.from(JSON.stringify({ token })),
    headers: {},
  }),
);

function statusOf(url: string, agent: Agent, { path, headers, body }: Fuzzed): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      { method: "POST", agent, headers: { "content-type": "application/json", ...headers } },
      (answer) => {
        answer.resume();
        answer.once("end", () => resolve(answer.statusCode ?? 0));
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}

/** Returns the status of a request whose header has bytes that HTTP forbids; 0 if the connection is cut. */
function statusOfRaw(url: string, bytes: Uint8Array): Promise<number> {
  const { port, hostname, host } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    socket.once("error", () => {});
    socket.once("close", () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)));
    socket.write(`POST ${readPath} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\nauthorization: Bearer `);
    socket.write(bytes);
    socket.end("\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
  });
}

test(`${count} random credentials and logins cause no crash, no 500 and no access`, async (t) => {
  const limits = {
    caller: { requestsPerSecond: 1_000_000, streams: 256, mutations: 10_000 },
    // An address without a login is cut off when it has used up its CPU time.
    unknown: { cpuMsPerSecond: 1_000_000 },
  };
  const listen = [{ address: "127.0.0.1:0" }];
  const options = { hasLogin: true, logLevel: "info" };
  const { url, log } = await startGatewayUnderTest(t, { listen, limits }, options);
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  t.teardown(() => agent.destroy());
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.comment(`seed ${seed}`);
  const sample = (chunk: number) =>
    fc.sample(fc.oneof(authorization, cookie, login, checked), { numRuns: chunkSize, seed: seed + chunk });
  const statuses = new Map<number, number>();
  const note = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);

  let next = 0;
  let letIn = 0;
  let requests: readonly Fuzzed[] = [];
  const work = async () => {
    while (next < count) {
      if (next % chunkSize === 0) {
        requests = sample(next / chunkSize);
      }
      const sent = requests[next % chunkSize];
      next += 1;
      if (sent !== undefined) {
        const status = await statusOf(url, agent, sent);
        note(status);
        letIn += Number(status === 200 && sent.path !== checkPath);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  for (const bytes of fc.sample(fc.uint8Array({ maxLength: 200 }), { numRuns: Math.min(count, 500), seed })) {
    note(await statusOfRaw(url, bytes));
  }

  const seen = [...statuses].map(([status, times]) => `${status}: ${times}`).join(", ");
  t.comment(seen);
  t.same(
    [...statuses.keys()].filter((status) => ![0, 200, 400, 401, 403, 429, 431].includes(status)),
    [],
    seen,
  );
  t.equal(letIn, 0, "no random text is a valid credential");
  t.ok((statuses.get(401) ?? 0) > count / 10, "credentials are checked");
  t.ok((statuses.get(400) ?? 0) > 0, "logins are checked");
  t.same(
    log.filter(({ level, code }) => Number(level) >= 40 || code === "INTERNAL"),
    [],
  );
});
