import { test } from "tap";
import { parseCallError } from "../../../dashboard/docs/call-error.ts";

test("an error has its code, sentence and reason", async (t) => {
  const body = {
    code: "not_found",
    message: "no volume data",
    details: [{ type: "x" }, { type: "google.rpc.ErrorInfo", debug: { reason: "VOLUME_NOT_FOUND" } }],
  };
  t.same(parseCallError(JSON.stringify(body), 404), {
    code: "NOT_FOUND",
    message: "no volume data",
    reason: "VOLUME_NOT_FOUND",
  });
  t.same(parseCallError('{"code":"internal"}', 500), { code: "INTERNAL", message: "", reason: "" });
});

test("a body that is not the gateway's is an error without a reason", async (t) => {
  t.same(parseCallError("<h1>Bad gateway</h1>\n", 502), {
    code: "HTTP 502",
    message: "<h1>Bad gateway</h1>",
    reason: "",
  });
  t.match(parseCallError("null", 500), { code: "HTTP 500", reason: "" });
});
