import { Code, ConnectError } from "@connectrpc/connect";
import { test } from "tap";
import { ErrorInfoSchema } from "../../../../gen/google/rpc/error_details_pb.ts";
import { messageOfCall } from "../../../../server/cli/target/with-session.ts";

test("a call that the gateway did not end itself reports a broken connection", async (t) => {
  t.equal(
    messageOfCall(new ConnectError("aborted", Code.Aborted)),
    "the connection to the gateway was lost (aborted)",
  );
  const info = { desc: ErrorInfoSchema, value: { reason: "SHUTTING_DOWN", domain: "hostplane" } };
  const stopping = new ConnectError("the gateway is stopping", Code.Unavailable, undefined, [info]);
  t.equal(messageOfCall(stopping), "the gateway is stopping");
  t.equal(messageOfCall(new ConnectError("nope is unknown", Code.NotFound)), "nope is unknown");
  const late = new ConnectError("the operation timed out", Code.DeadlineExceeded);
  t.equal(messageOfCall(late), "the gateway did not answer within 60 s");
  const refused = new ConnectError(
    "fetch failed",
    Code.Unavailable,
    undefined,
    undefined,
    new Error("ECONNREFUSED"),
  );
  t.equal(messageOfCall(refused, "https://a"), "no connection to https://a: ECONNREFUSED");
});
