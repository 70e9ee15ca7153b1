import { test } from "tap";
import { EventService } from "../../../../gen/hostplane/v1/event_pb.ts";
import { documentedReasons } from "../../../../server/gateway/method-reasons.ts";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import { createErrorTable } from "../../../../server/rpc/openapi/error-table.ts";

test("reasons named in a comment are found, and other words in capitals are not", async (t) => {
  const method = EventService.method.subscribe;
  const table = createErrorTable({ ...documentedReasons, ofMethod: () => [] }, (subject) =>
    subject === method ? "Ends with HISTORY_GONE, not before COMPLETE." : "",
  );
  const found = table.ownOf({ method, rule: methodRuleOf(method) });
  t.match(found, [{ reason: "HISTORY_GONE", connectStatus: /\d/ }]);
  t.equal(found.length, 1);
});
