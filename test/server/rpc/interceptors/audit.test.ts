import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { Cluster } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import { UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import { OperationsService } from "../../../../gen/operations/v1/operations_pb.ts";
import { CreateLVRequestSchema, LVService, VGService } from "../../../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../../../gen/services/auth/auth_pb.ts";
import { authReasons } from "../../../../server/domains/auth/reasons.ts";
import type { Call, Interceptor, Output } from "../../../../server/rpc/call/call.ts";
import { runInterceptors } from "../../../../server/rpc/call/call-path.ts";
import { anonymous, type Caller } from "../../../../server/rpc/call/caller.ts";
import {
  type AuditedCall,
  type AuditedOutcome,
  type AuditedRefusal,
  type AuditPort,
  createCallAudit,
} from "../../../../server/rpc/interceptors/audit.ts";
import type { RefusalSum } from "../../../../server/rpc/interceptors/refusal-sums.ts";
import { storeReasons } from "../../../../server/store/reasons.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import { reasonNamed } from "../../../reason-named.ts";
import { createCall } from "../call/call-under-test.ts";
import { interceptorOf } from "./interceptor-of.ts";

interface Row {
  readonly call: AuditedCall;
  outcome: AuditedOutcome | undefined;
}

/** Creates an audit log in memory, which can be made to fail. */
function createMemoryAudit() {
  const rows: Row[] = [];
  const sums: RefusalSum<AuditedRefusal>[] = [];
  const failures: string[] = [];
  const state = { isDown: false };
  const unavailable = () => new InfraError(storeReasons.STORE_UNAVAILABLE, "down");
  const port: AuditPort = {
    async add(call, outcome) {
      if (state.isDown) {
        throw unavailable();
      }
      return rows.push({ call, outcome }) - 1;
    },
    async end(sequence, outcome) {
      const row = rows[sequence];
      if (state.isDown || row === undefined) {
        throw unavailable();
      }
      row.outcome = outcome;
    },
    async addRefusals(added) {
      sums.push(...added);
    },
    onFailed: (what) => failures.push(what),
  };
  return { port, rows, sums, failures, state, audit: createCallAudit(port) };
}

const alice: Caller = {
  ...anonymous,
  actor: "user/alice",
  accountId: "account-1",
  role: "admin",
  credential: "session",
};

const asAlice: Interceptor = (call, next) => {
  call.identify(alice);
  return next();
};

const refuse =
  (reason: string): Interceptor =>
  () =>
    Promise.reject(new InfraError(reasonNamed(reason), "no"));

/** Runs the gateway's chain from the audit on. */
function pass(
  { interceptor, streamInterceptor, workInterceptor }: ReturnType<typeof createCallAudit>,
  call: Call,
  handler: () => Promise<Output>,
  links: readonly Interceptor[] = [asAlice],
): Promise<Output> {
  return runInterceptors([interceptor, ...links, interceptorOf(streamInterceptor)], call, () =>
    interceptorOf(workInterceptor)(call, handler),
  );
}

const mutation = LVService.method.removeLV;

test("a change is written before it begins and completed after, with its caller, request and outcome", async (t) => {
  const { audit, rows } = createMemoryAudit();
  const input = create(CreateLVRequestSchema, {
    name: "data",
    dataSource: { type: { case: "s3", value: { secretAccessKey: "hidden" } } },
  });
  const call = createCall({ method: LVService.method.createLV, input });
  await pass(audit, call, async () => {
    t.match(rows, [{ outcome: undefined, call: { rpc: "proto.LVService/CreateLV" } }], "before");
    call.noteResource("volumeGroups/vg0/volumes/data");
    call.noteOperation("operation-1");
    return {};
  });
  t.match(rows, [
    {
      call: {
        actor: "user/alice",
        accountId: "account-1",
        credential: "session",
        address: "127.0.0.1",
        listener: "127.0.0.1:0",
        requestId: "test",
        request: '{"name":"data","dataSource":{"s3":{}}}',
      },
      outcome: {
        code: "OK",
        reason: undefined,
        resource: "volumeGroups/vg0/volumes/data",
        operationId: "operation-1",
      },
    },
  ]);
  await reasonOf(pass(audit, createCall({ method: mutation }), refuse("VOLUME_IN_USE") as never));
  t.match(rows[1]?.outcome, { code: "FAILED_PRECONDITION", reason: "VOLUME_IN_USE" });
});

test("a change that cannot be recorded does not begin, nor does one whose caller has left meanwhile", async (t) => {
  const { audit, rows, state } = createMemoryAudit();
  let startedCount = 0;
  const handler = async () => {
    startedCount++;
    return {};
  };
  state.isDown = true;
  t.equal(await reasonOf(pass(audit, createCall({ method: mutation }), handler)), "STORE_UNAVAILABLE");
  t.notOk(
    await reasonOf(pass(audit, createCall({ method: VGService.method.getFreeBytes }), handler)),
    "a read is not affected",
  );
  state.isDown = false;
  const ending = new AbortController();
  ending.abort(new InfraError(hostReasons.CALLER_LEFT, "left"));
  t.equal(await reasonOf(pass(audit, createCall({ method: mutation, ending }), handler)), "CALLER_LEFT");
  t.equal(startedCount, 1, "only the read");
  t.match(rows, [{ outcome: { code: "CANCELLED" } }]);
});

test("a change that succeeds while the log fails has no outcome, and its caller gets the answer", async (t) => {
  const { audit, rows, state, failures } = createMemoryAudit();
  const answer = await pass(audit, createCall({ method: mutation }), async () => {
    state.isDown = true;
    return { done: true };
  });
  t.same(answer, { done: true });
  t.match(rows, [{ outcome: undefined }]);
  t.equal(failures.length, 1);
});

test("the recorded outcome is that of the work, even if the caller left before", async (t) => {
  const { audit, rows } = createMemoryAudit();
  const work = Promise.withResolvers<Output>();
  const began = Promise.withResolvers<void>();
  const call = createCall({ method: mutation });
  const { interceptor, workInterceptor } = audit;
  const left = runInterceptors([interceptor, asAlice], call, async () => {
    const handled = interceptorOf(workInterceptor)(call, () => {
      began.resolve();
      return work.promise;
    });
    await began.promise;
    handled.catch(() => {});
    throw new InfraError(hostReasons.CALLER_LEFT, "left");
  });
  t.equal(await reasonOf(left), "CALLER_LEFT");
  t.match(rows, [{ outcome: undefined }]);
  let isClosed = false;
  const closed = audit.close().then(() => {
    isClosed = true;
  });
  await new Promise(setImmediate);
  t.notOk(isClosed, "closing waits for the work");
  work.resolve({});
  await closed;
  t.equal(rows.length, 1);
  t.match(rows, [{ outcome: { code: "OK" } }]);
});

test("a change refused before it begins is one row with its code", async (t) => {
  const { audit, rows, sums } = createMemoryAudit();
  const links = [asAlice, refuse("UNKNOWN_HEADER")];
  t.equal(
    await reasonOf(pass(audit, createCall({ method: mutation }), async () => ({}), links)),
    "UNKNOWN_HEADER",
  );
  t.match(rows, [
    { call: { actor: "user/alice", request: undefined }, outcome: { code: "INVALID_ARGUMENT" } },
  ]);
  await audit.close();
  t.same(sums, []);
});

test("reads are not recorded, except those that return secrets", async (t) => {
  const { audit, rows } = createMemoryAudit();
  await pass(audit, createCall({ method: VGService.method.getFreeBytes }), async () => ({}));
  await reasonOf(pass(audit, createCall({ method: VGService.method.getFreeBytes }), refuse("BUSY") as never));
  await reasonOf(pass(audit, createCall({ method: UserService.method.listUsers }), refuse("BUSY") as never));
  await pass(audit, createCall({ method: AuthService.method.checkToken }), async () => ({}), []);
  t.same(rows, []);
  await pass(audit, createCall({ method: Cluster.method.getCluster }), async () => ({}));
  t.match(rows, [{ call: { rpc: "cnct.kaas.api.Cluster/GetCluster" }, outcome: { code: "OK" } }]);
});

test("a login is a row with the identified user; failed ones are summed, whatever the error", async (t) => {
  const { audit, rows, sums, state } = createMemoryAudit();
  const login = () => createCall({ method: AuthService.method.login });
  const call = login();
  const succeed = async () => {
    call.identify(alice);
    return {};
  };
  await pass(audit, call, succeed, []);
  t.match(rows, [{ call: { actor: "user/alice", request: undefined }, outcome: { code: "OK" } }]);
  for (const reason of [
    "INVALID_CREDENTIALS",
    "TOO_MANY_LOGINS",
    "INVALID_FIELD",
    "MALFORMED_REQUEST",
  ] as const) {
    await reasonOf(pass(audit, login(), refuse(reason) as never, []));
  }
  await audit.close();
  t.equal(rows.length, 1);
  t.match(
    sums.map(({ count, last }) => [last.outcome.reason, count]),
    [
      ["INVALID_CREDENTIALS", 1],
      ["TOO_MANY_LOGINS", 1],
      ["INVALID_FIELD", 1],
      ["MALFORMED_REQUEST", 1],
    ],
  );
  state.isDown = true;
  t.equal(
    await reasonOf(pass(audit, login(), succeed, [])),
    "STORE_UNAVAILABLE",
    "a login that cannot be recorded is refused",
  );
});

test("calls of any method refused because of their caller are summed; a million write one row", async (t) => {
  const { audit, rows, sums } = createMemoryAudit();
  const methods = [VGService.method.getFreeBytes, mutation, VGService.method.watch];
  const reasons = ["LOGIN_REQUIRED", "TOKEN_EXPIRED", "ROLE_REQUIRED", "CALLER_LIMIT"] as const;
  for (const method of methods) {
    for (const reason of reasons) {
      await reasonOf(pass(audit, createCall({ method }), async () => ({}), [refuse(reason)]));
    }
  }
  // A change by a caller without a login, while the store that could identify it is down.
  await reasonOf(
    pass(audit, createCall({ method: mutation }), async () => ({}), [refuse("STORE_UNAVAILABLE")]),
  );
  await audit.close();
  t.same(rows, []);
  t.match(
    sums.map(({ count, last }) => [last.outcome.reason, count]),
    [...reasons.map((reason) => [reason, methods.length]), ["STORE_UNAVAILABLE", 1]],
  );
});

test("a page that checks whether there is a login leaves no row, but one with an expired login does", async (t) => {
  const { audit, rows, sums } = createMemoryAudit();
  for (const reason of ["LOGIN_REQUIRED", "TOKEN_EXPIRED"] as const) {
    const call = createCall({ method: UserService.method.getCaller });
    await reasonOf(pass(audit, call, async () => ({}), [refuse(reason)]));
  }
  await audit.close();
  t.same(rows, []);
  t.same(
    sums.map(({ last }) => last.outcome.reason),
    ["TOKEN_EXPIRED"],
  );
});

test("no refusal is recorded under the name of another caller from the same address", async (t) => {
  const { audit, sums } = createMemoryAudit();
  const denied = async (name: string | undefined) => {
    const call = createCall({ method: mutation });
    if (name !== undefined) {
      call.identify({ ...alice, actor: name });
    }
    const reason = name === undefined ? "LOGIN_REQUIRED" : "ROLE_REQUIRED";
    await reasonOf(pass(audit, call, async () => ({}), [refuse(reason)]));
  };
  for (const name of ["user/alice", undefined, "user/bob", "user/alice"]) {
    await denied(name);
  }
  await audit.close();
  t.same(
    sums.map(({ count, last }) => [last.call.actor, last.outcome.reason, count]),
    [
      ["user/alice", "ROLE_REQUIRED", 2],
      ["anonymous", "LOGIN_REQUIRED", 1],
      ["user/bob", "ROLE_REQUIRED", 1],
    ],
  );
});

test("a refusal by the change itself is its own row and not summed", async (t) => {
  const { audit, rows, sums } = createMemoryAudit();
  await reasonOf(pass(audit, createCall({ method: mutation }), refuse("ROLE_REQUIRED") as never));
  await audit.close();
  t.match(rows, [{ outcome: { code: "PERMISSION_DENIED" } }]);
  t.same(sums, []);
});

test("a stream's record ends when its last message is sent, or its reader has left", async (t) => {
  const { audit, rows } = createMemoryAudit();
  const open = async (messages: AsyncIterable<object>) => {
    const call = createCall({ method: OperationsService.method.destroyHypervisor });
    const output = await pass(audit, call, async () => messages);
    return (output as AsyncIterable<object>)[Symbol.asyncIterator]();
  };
  const reader = await open(
    (async function* () {
      yield {};
    })(),
  );
  await reader.next();
  t.match(rows, [{ outcome: undefined }]);
  await reader.next();
  t.match(rows, [{ outcome: { code: "OK" } }]);
  const failing = await open(
    (async function* () {
      yield {};
      throw new InfraError(authReasons.TOKEN_REVOKED, "revoked");
    })(),
  );
  await failing.next();
  t.equal(await reasonOf(failing.next()), "TOKEN_REVOKED");
  t.match(rows[1]?.outcome, { code: "UNAUTHENTICATED" });
  const left = await open(
    (async function* () {
      yield {};
      yield {};
    })(),
  );
  await left.next();
  await left.return?.();
  t.match(rows[2]?.outcome, { code: "CANCELLED", reason: "CALLER_LEFT" });
});
