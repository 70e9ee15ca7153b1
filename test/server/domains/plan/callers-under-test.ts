import type { JsonObject } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { until } from "../../fleet/until.ts";
import { adminPassword, startGatewayUnderTest } from "../../harness/gateway-under-test.ts";

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
  const started = await startGatewayUnderTest(t, settings, { hasLogin: true });
  const { url } = started;

  async function post(method: string, request: JsonObject, headers: Readonly<Record<string, string>>) {
    const answer = await fetch(`${url}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(request),
    });
    const body = (await answer.json()) as Answer["body"];
    const details = (body.details ?? []) as readonly { readonly debug?: ErrorInfoJson }[];
    const info = details.find(({ debug }) => debug?.reason !== undefined)?.debug;
    const { reason, metadata = {} } = info ?? {};
    return { status: answer.status, body, headers: answer.headers, reason, metadata };
  }

  async function login(username: string, password: string): Promise<CallerUnderTest> {
    const { body } = await post("services.auth.AuthService/Login", { username, password }, {});
    return callerWith(String(body.token));
  }

  function callerWith(token: string): CallerUnderTest {
    const authorization = `Bearer ${token}`;
    const call: CallerUnderTest["call"] = (method, request = {}, headers = {}) =>
      post(method, request, { authorization, ...headers });
    return {
      call,
      async plan(method, json) {
        const { body: saved } = await call("hostplane.v1.PlanService/CreatePlan", { method, json });
        return saved.plan?.id ?? t.fail(`${method}: ${JSON.stringify(saved)}`).toString();
      },
      apply: (id) => call("hostplane.v1.PlanService/ApplyPlan", { id }),
      approve: (id) => call("hostplane.v1.PlanService/ApprovePlan", { id }),
    };
  }

  const admin = await login("admin", adminPassword);
  for (const name of ["alice", "bob", "carol"]) {
    const role = "ROLE_OPERATOR";
    const password = "an operator of a test";
    await admin.call("hostplane.v1.UserService/CreateUser", { name, role, password });
  }
  const alice = await login("alice", "an operator of a test");
  const bob = await login("bob", "an operator of a test");
  const carol = await login("carol", "an operator of a test");
  const { body } = await admin.call("hostplane.v1.UserService/CreateApiToken", {
    name: "ci",
    role: "ROLE_OPERATOR",
  });
  const ci = callerWith(String(body.token));
  return { ...started, admin, alice, bob, carol, ci };
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
