import { createClient } from "@connectrpc/connect";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { protocols } from "../protocols.ts";
import { rpcErrorOf } from "../rpc-error.ts";
import { heartbeat, nameOf, sharedHeartbeat, startSinksUnderTest } from "./sink-under-test.ts";

const streamForms = protocols.filter(({ isGet }) => isGet === undefined);

test("what a sink writes stands between what the handler yields, by every protocol", async (t) => {
  const { url, accepted } = await startSinksUnderTest(t);
  const before = ["a", "b", "c"].map(sharedHeartbeat);
  const after = sharedHeartbeat("d");
  for (const protocol of streamForms) {
    const client = createClient(EventService, protocol.createTransport(url));
    const answers = client.subscribe({})[Symbol.asyncIterator]();
    const first = answers.next();
    const { sink, yieldAll, end } = await accepted();
    for (const message of before) {
      t.equal(sink.write(message), true);
    }
    yieldAll([heartbeat("yielded")]);
    const names = [nameOf((await first).value)];
    for (let count = 0; count < 4; count += 1) {
      names.push(nameOf((await answers.next()).value));
    }
    t.equal(sink.write(after), true, "the sink goes on behind what was yielded");
    end(new InfraError("SUBSCRIBER_TOO_SLOW", "the subscriber does not keep up"));
    names.push(nameOf((await answers.next()).value));
    t.same(names, ["first", "a", "b", "c", "yielded", "d"], protocol.name);
    t.match(await rpcErrorOf(answers.next()), { reason: "SUBSCRIBER_TOO_SLOW" }, protocol.name);
    t.equal(sink.write(after), false, "nothing is written behind the end");
  }
});
