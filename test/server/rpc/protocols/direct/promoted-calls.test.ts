import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test } from "tap";

/** A unary Connect call takes 10 KB in all, a gRPC one 28 KB; 3.7 to 4.6 KB of those running at a scavenge were measured. */
const maxBytesPerCall = 6144;

test("a unary call that has ended is freed by the next scavenge, without a full collection", async (t) => {
  const program = fileURLToPath(new URL("./promoted-bytes-process.ts", import.meta.url));
  const heap = ["--min-semi-space-size=1", "--max-semi-space-size=1", "--initial-old-space-size=2000"];
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", ...heap, program]);
  const promoted: Record<string, number> = JSON.parse(stdout);
  t.comment(stdout);
  t.same(Object.keys(promoted), ["application/json", "application/grpc+proto"]);
  for (const [contentType, bytes] of Object.entries(promoted)) {
    t.ok(bytes < maxBytesPerCall, `${contentType}: ${bytes} bytes of each call are in the old generation`);
  }
});
