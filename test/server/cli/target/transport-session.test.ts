import { createRouterTransport } from "@connectrpc/connect";
import { test } from "tap";
import { PodService } from "../../../../gen/hostplane/v1/pod_pb.ts";
import { firstOf } from "../../../../server/cli/table/session.ts";
import { createTransportSession } from "../../../../server/cli/target/transport-session.ts";

test("reads have a deadline, changes and streams have none", async (t) => {
  const deadlines: (number | undefined)[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(PodService, {
      listPods: (_request, { timeoutMs }) => {
        deadlines.push(timeoutMs());
        return {};
      },
      startPod: (_request, { timeoutMs }) => {
        deadlines.push(timeoutMs());
        return {};
      },
      async *watchPods(_request, { timeoutMs }) {
        deadlines.push(timeoutMs());
        yield { pods: [{ id: "a" }] };
      },
    });
  });
  const session = createTransportSession(transport);
  await session.call(PodService.method.listPods, {});
  await session.call(PodService.method.startPod, { pod: "a" });
  t.match(await firstOf(session, PodService.method.watchPods, {}), { pods: [{ id: "a" }] });
  const [read, ...others] = deadlines;
  t.ok(read !== undefined && read > 50_000 && read <= 60_000, String(read));
  t.same(others, [undefined, undefined]);
});
