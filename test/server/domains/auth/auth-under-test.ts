import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { AuthService, type LoginResponse } from "../../../../gen/services/auth/auth_pb.ts";
import { type MasterKeys, masterKeysFromText } from "../../../../server/crypto/master-keys.ts";
import { type Auth, type AuthOptions, createAuth } from "../../../../server/domains/auth/auth.ts";
import { hashPassword } from "../../../../server/domains/auth/password.ts";
import { knownMethods, knownServices } from "../../../../server/gateway/method-rules.ts";
import { gatewayModules } from "../../../../server/gateway/store-modules.ts";
import type { CallerRole } from "../../../../server/rpc/access/caller-role.ts";
import type { Peer } from "../../../../server/rpc/call/call.ts";
import type { Caller } from "../../../../server/rpc/call/caller.ts";
import { openStore } from "../../../../server/store/open-store.ts";
import type { Store } from "../../../../server/store/store.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";

export const password = "correct horse";
/** Computed once per test file. */
const passwordHash = hashPassword(password);

/** What a client sends in addition to the message. */
export interface From {
  readonly headers?: Readonly<Record<string, string>>;
  readonly peer?: Partial<Peer>;
  readonly signal?: AbortSignal;
}

/** Authentication on a store of the test, called in the same way as by the router. */
export interface AuthUnderTest {
  readonly auth: Auth;
  /** Calls a method and returns the answer with its headers. */
  call<M extends DescMethodUnary>(
    method: M,
    input: MessageInitShape<M["input"]>,
    from?: From,
  ): Promise<{ readonly message: MessageShape<M["output"]>; readonly headers: Headers }>;
  /** Logs in from an unused address. */
  logIn(name: string, secret?: string): Promise<LoginResponse>;
  /** Returns the caller of a call with these headers. */
  caller(headers: Readonly<Record<string, string>>, peer?: Partial<Peer>): Promise<Caller>;
}

export const masterKeys: MasterKeys = masterKeysFromText(randomBytes(32).toString("base64"), "the test");

/** Opens a store with the user `admin`, SQLite unless a URL is given; it is closed and removed when the test ends. */
export async function openAuthStore(t: Test, url = "sqlite"): Promise<Store> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-auth-"));
  const store = await openStore({
    modules: gatewayModules,
    url,
    directory,
    kind: "real",
    keyCheck: masterKeys.current.fingerprint,
    log: { info() {}, warn() {}, fatal() {} },
  });
  t.teardown(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  await addUser(store, "admin", "admin");
  return store;
}

/** Adds a user with `password`, or with a certificate name instead. */
export async function addUser(
  store: Store,
  name: string,
  role: CallerRole,
  certificateName?: string,
): Promise<string> {
  const id = randomUUID();
  await store.run("users.create", {
    id,
    name,
    role,
    services: null,
    passwordHash: certificateName === undefined ? await passwordHash : null,
    certificateNames: certificateName === undefined ? [] : [certificateName],
  });
  return id;
}

let lastAddress = 0;

/** Returns an address that was not used for a login yet. */
export function freshAddress(): string {
  lastAddress += 1;
  return `10.${lastAddress >> 16}.${(lastAddress >> 8) & 0xff}.${lastAddress & 0xff}`;
}

export async function startAuth(
  t: Test,
  store: Store,
  config: Partial<AuthOptions["config"]> = {},
  onFailed: AuthOptions["onFailed"] = () => {},
): Promise<AuthUnderTest> {
  const auth = await createAuth({
    store,
    masterKeys,
    config: { tokenHours: 12, audience: "hostplane", checkSeconds: 25, providers: [], ...config },
    serviceNames: knownServices,
    methods: knownMethods(),
    accessOf: () => undefined,
    host: "host-1",
    onFailed,
  });
  t.teardown(() => auth.close());

  async function call<M extends DescMethodUnary>(
    method: M,
    input: MessageInitShape<M["input"]>,
    { headers = {}, peer = {}, signal }: From = {},
  ) {
    const ending = new AbortController();
    signal?.addEventListener("abort", () => ending.abort(signal.reason));
    const answered = new Headers();
    const created = createCall({ method, headers, peer, answered, ending });
    if (created.rule.role !== "anyone") {
      created.identify(await auth.authenticate(created));
    }
    const registration = auth.registrations.find(({ service }) => service === method.parent);
    const handler = registration?.handlerOf(method);
    if (handler === undefined) {
      throw new TypeError(`${method.name} is not registered`);
    }
    const answer = await (handler(create(method.input, input as never), created) as Promise<object>);
    const message = create(method.output, answer as never) as MessageShape<M["output"]>;
    return { message, headers: answered };
  }

  return {
    auth,
    call,
    async logIn(name, secret = password) {
      const input = { username: name, password: secret };
      return (await call(AuthService.method.login, input, { peer: { address: freshAddress() } })).message;
    },
    caller: async (headers, peer = {}) => auth.authenticate(createCall({ headers, peer })),
  };
}

/** Returns the InfraError that a promise is rejected with; undefined when it resolves. */
export async function errorOf(promise: Promise<unknown>): Promise<InfraError | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    if (error instanceof InfraError) {
      return error;
    }
    throw error;
  }
}

export async function reasonOf(promise: Promise<unknown>): Promise<string | undefined> {
  return (await errorOf(promise))?.reason;
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
