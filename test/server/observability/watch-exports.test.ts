import { ExportResultCode } from "@opentelemetry/core";
import { test } from "tap";
import { watchExports } from "../../../server/observability/watch-exports.ts";

test("the first failed export of a series is reported, and every result passed on", async (t) => {
  const codes = [1, 1, 0, 0, 1].map((failed) =>
    failed === 1 ? ExportResultCode.FAILED : ExportResultCode.SUCCESS,
  );
  const results = [...codes];
  const reported: (string | undefined)[] = [];
  const exporter = watchExports(
    {
      export: (_spans, onResult) => {
        const code = results.shift() ?? ExportResultCode.SUCCESS;
        onResult(code === ExportResultCode.FAILED ? { code, error: new Error("refused") } : { code });
      },
      shutdown: async () => {},
      forceFlush: async () => {},
    },
    (error) => reported.push(error?.message),
  );
  const seen: ExportResultCode[] = [];
  const reportedAfter = codes.map(() => {
    exporter.export([], ({ code }) => seen.push(code));
    return reported.length;
  });
  t.strictSame(seen, codes);
  t.strictSame(reportedAfter, [1, 1, 1, 1, 2]);
  t.strictSame(reported, ["refused", "refused"]);
});
