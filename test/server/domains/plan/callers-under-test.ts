import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { until } from "../../harness/until.ts";

/** A message in JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** The answer to a call. */
export interface Answer {
  readonly status: number;
  readonly body: Json & {
    readonly code?: string;
    readonly message?: string;
    readonly plan?: Json & { readonly id: string; readonly operationIds?: readonly string[] };
  };
  readonly headers: Headers;
  /** Metadata of the error. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Reason of the error; undefined for a response. */
  readonly reason: string | undefined;
}

type ErrorInfoJson = Partial<Pick<Answer, "reason" | "metadata">>;

/** A caller of the gateway under test. */
export interface CallerUnderTest {
  call(method: string, request?: JsonObject, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Saves a plan, and returns its id. */
  plan(method: string, json: JsonObject): Promise<string>;
  apply(id: string): Promise<Answer>;
  approve(id: string): Promise<Answer>;
}

/** Starts a sandbox with the users admin, alice, bob and carol (operators), and the API token ci (operator). */
export async function startPlans(t: Test, settings: Record<string, unknown> = {}) {
  const data = await mkdtemp(join(tmpdir(), "hostplane-plans-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const started = await startGatewayUnderTest(t, { data, ...settings }, { hasLogin: true });
  const { url } = started;

  async function post(method: string, request: JsonObject, headers: Readonly<Record<string, string>>) {
    const answer = await fetch(`${url}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(request),
    });
    const body = (await answer.json()) as Answer["body"];
    return answerFrom(answer.status, body, answer.headers);
  }

  async function login(username: string, password: string): Promise<CallerUnderTest> {
    const { body } = await post("services.auth.AuthService/Login", { username, password }, {});
    return callerWith(String(body.token));
  }

  const callerWith = (token: string): CallerUnderTest => {
    const authorization = `Bearer ${token}`;
    return callerOver((method, request, headers) => post(method, request, { authorization, ...headers }));
  };

  const admin = await login("admin", adminPassword);
  for (const name of ["alice", "bob", "carol"]) {
    const role = "ROLE_OPERATOR";
    const password = "an operator of a test";
    await admin.call("hostplane.v1.UserService/CreateUser", { name, role, password });
  }
  const alice = await login("alice", "an operator of a test");
  const bob = await login("bob", "an operator of a test");
  const carol = await login("carol", "an operator of a test");
  /** Creates an API token, and returns it. */
  async function tokenOf(name: string, role: string): Promise<string> {
    const { body } = await admin.call("hostplane.v1.UserService/CreateApiToken", { name, role });
    return String(body.token);
  }
  const ci = callerWith(await tokenOf("ci", "ROLE_OPERATOR"));
  const socketPath = join(data, "sandbox", "admin.sock");
  const adminSocket = callerOver((method, request) => postToSocket(socketPath, method, request));
  return { ...started, data, admin, alice, bob, carol, ci, adminSocket, tokenOf };
}

/** Creates a caller whose calls are sent by `call`. */
function callerOver(
  call: (method: string, request: JsonObject, headers: Readonly<Record<string, string>>) => Promise<Answer>,
): CallerUnderTest {
  const caller: CallerUnderTest = {
    call: (method, request = {}, headers = {}) => call(method, request, headers),
    async plan(method, request) {
      const { body } = await caller.call("hostplane.v1.PlanService/CreatePlan", { method, json: request });
      if (body.plan === undefined) {
        throw new Error(`${method}: ${JSON.stringify(body)}`);
      }
      return body.plan.id;
    },
    apply: (id) => caller.call("hostplane.v1.PlanService/ApplyPlan", { id }),
    approve: (id) => caller.call("hostplane.v1.PlanService/ApprovePlan", { id }),
  };
  return caller;
}

async function postToSocket(socketPath: string, method: string, request: JsonObject): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const sent = sendRequest({ socketPath, path: `/${method}`, method: "POST", headers });
  sent.end(JSON.stringify(request));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return answerFrom(answer.statusCode ?? 0, (await json(answer)) as Answer["body"], new Headers());
}

function answerFrom(status: number, body: Answer["body"], headers: Headers): Answer {
  const details = (body.details ?? []) as readonly { readonly debug?: ErrorInfoJson }[];
  const info = details.find(({ debug }) => debug?.reason !== undefined)?.debug;
  return { status, body, headers, reason: info?.reason, metadata: info?.metadata ?? {} };
}

/** Returns an operation once it has ended. */
export async function endedOperation({ call }: CallerUnderTest, id: unknown): Promise<Json> {
  let operation: Json = {};
  await until(async () => {
    const { body } = await call("hostplane.v1.OperationService/GetOperation", { id: String(id) });
    if (body.operation === undefined) {
      throw new Error(`operation ${String(id)}: ${JSON.stringify(body)}`);
    }
    operation = body.operation as Json;
    return operation.endedAt !== undefined;
  });
  return operation;
}
