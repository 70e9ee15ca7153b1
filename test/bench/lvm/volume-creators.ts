import { once } from "node:events";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";

// A process of its own, so that the process that measures lists does nothing else.
// Arguments: URL of the gateway, number of clients. Each message of the parent begins or ends a round of creates.

const [url = "", clients = ""] = process.argv.slice(2);
const volumes = createClient(LVService, createGrpcTransport({ baseUrl: url }));
let createdCount = 0;

process.send?.("ready");
for (;;) {
  await once(process, "message");
  const names = await createUntil(once(process, "message"));
  for (const name of names) {
    await volumes.removeLV({ name });
  }
  process.send?.("removed");
}

/** Creates volumes of 1 GiB with all clients, and returns their names. */
async function createUntil(end: Promise<unknown>): Promise<readonly string[]> {
  const names: string[] = [];
  let isOver = false;
  void end.then(() => {
    isOver = true;
  });
  const creating = Array.from({ length: Number(clients) }, async () => {
    while (!isOver) {
      createdCount += 1;
      const name = `made-${createdCount}`;
      await volumes.createLV({ name, sizeGb: 1n });
      names.push(name);
    }
  });
  await Promise.all(creating);
  return names;
}
