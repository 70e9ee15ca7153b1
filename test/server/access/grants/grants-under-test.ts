import type { JsonObject } from "@bufbuild/protobuf";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../../harness/gateway-under-test.ts";

/** An answer to a call, with its text. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** Reason of the error; empty for a response. */
  readonly reason: string;
}

/** A caller of a gateway under test. */
export interface GrantedCaller {
  readonly token: string;
  call(method: string, request?: JsonObject): Promise<Answer>;
  transport(): ReturnType<typeof createConnectTransport>;
}

/** A sandbox that requires logins. */
export interface GrantsUnderTest {
  readonly url: string;
  readonly admin: GrantedCaller;
  /** Creates a user with grants, as JSON of the contract, and logs in as that user. */
  userWith(name: string, grants: readonly JsonObject[]): Promise<GrantedCaller>;
  callerOf(token: string): GrantedCaller;
}

const password = "a user of a test";

export async function startGrants(t: Test): Promise<GrantsUnderTest> {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  return grantsOf(t, url);
}

/** Uses a gateway that is running. */
export async function grantsOf(t: Test, url: string): Promise<GrantsUnderTest> {
  async function post(method: string, request: JsonObject, token: string | undefined): Promise<Answer> {
    const answer = await fetch(`${url}/${method}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(request),
    });
    const text = await answer.text();
    const body = JSON.parse(text) as Answer["body"];
    const details = (body.details ?? []) as readonly { readonly debug?: { readonly reason?: string } }[];
    return {
      status: answer.status,
      body,
      text,
      reason: details.flatMap(({ debug }) => debug?.reason ?? [])[0] ?? "",
    };
  }

  function callerOf(token: string): GrantedCaller {
    return {
      token,
      call: (method, request = {}) => post(method, request, token),
      transport: () =>
        createConnectTransport({
          httpVersion: "2",
          baseUrl: url,
          useBinaryFormat: false,
          interceptors: [
            (next) => (request) => {
              request.header.set("authorization", `Bearer ${token}`);
              return next(request);
            },
          ],
        }),
    };
  }

  async function logIn(username: string, given: string): Promise<GrantedCaller> {
    const { body } = await post("services.auth.AuthService/Login", { username, password: given }, undefined);
    return callerOf(String(body.token));
  }

  const admin = await logIn("admin", adminPassword);
  return {
    url,
    admin,
    callerOf,
    async userWith(name, grants) {
      const { status, text } = await admin.call("hostplane.v1.UserService/CreateUser", {
        name,
        password,
        grants: [...grants],
      });
      t.equal(status, 200, text);
      return logIn(name, password);
    },
  };
}
