import { Code, ConnectError } from "@connectrpc/connect";
import { test } from "tap";
import { ErrorInfoSchema } from "../../../../gen/google/rpc/error_details_pb.ts";
import { errorFromHost } from "../../../../server/fleet/hub/error-from-host.ts";

const link = { host: "node-1", closed: new AbortController().signal };

function reported(reason: string, message: string): ConnectError {
  const error = new ConnectError(message, Code.FailedPrecondition);
  error.details = [{ desc: ErrorInfoSchema, value: { reason, domain: "hostplane", metadata: {} } }];
  return error;
}

test("an error of a host keeps its reason and message, as far as they are short", async (t) => {
  t.match(errorFromHost(reported("VOLUME_IN_USE", "data is in use"), link), {
    reason: "VOLUME_IN_USE",
    code: "FAILED_PRECONDITION",
    message: "data is in use",
  });
  const long = "X".repeat(1_000_000);
  for (const thrown of [reported(long, long), new Error(long)]) {
    const { reason, message } = errorFromHost(thrown, link);
    t.ok(reason.length + message.length < 5000, "many hosts may have one in the same answer");
  }
});
