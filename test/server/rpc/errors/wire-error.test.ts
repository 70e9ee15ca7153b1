import { Code, ConnectError } from "@connectrpc/connect";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { createHandlerError, wireErrorFrom } from "../../../../server/rpc/errors/wire-error.ts";
import { createCall } from "../call/call-under-test.ts";

const bare = createCall({ peer: { errorDetails: false } });

test("details attached by a handler are kept on any listener", async (t) => {
  const details = [{ type: "a.B", value: new Uint8Array([1]) }];
  const error = createHandlerError("no", Code.Unknown, details);
  for (const call of [createCall(), bare]) {
    t.match(wireErrorFrom(error, call), { code: Code.Unknown, rawMessage: "no", details });
  }
});

test("details added by the gateway are omitted if the listener says so, except over REST", async (t) => {
  const error = new InfraError(hostReasons.INVALID_FIELD, "no", {
    violations: [{ field: "a", description: "b" }],
  });
  t.equal(wireErrorFrom(error, createCall()).details.length, 2);
  t.match(wireErrorFrom(error, bare), { code: Code.InvalidArgument, rawMessage: "no" });
  t.equal(wireErrorFrom(error, bare).details.length, 0);
  t.equal(wireErrorFrom(error, { protocol: "rest", peer: bare.peer }).details.length, 2);
});

test("an error raised by connect-es is not a handler's", async (t) => {
  const error = new ConnectError("parse binary: premature EOF", Code.Internal);
  t.match(wireErrorFrom(error, createCall()), { code: Code.InvalidArgument });
});
