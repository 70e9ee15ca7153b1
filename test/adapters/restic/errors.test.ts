import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import type { ToolResult } from "../../../adapters/host/run.ts";
import { errorFromFailure, errorFromResult } from "../../../adapters/restic/errors.ts";

function result(exitCode: number | null, stderr: string): ToolResult {
  const argv = ["sudo", "-E", "restic", "dump", "--no-cache", "--", "0".repeat(64), "/data"];
  return { argv, exitCode, signal: exitCode === null ? "SIGKILL" : null, stdout: "", stderr, durationMs: 1 };
}

const recorded = readFileSync(join(import.meta.dirname, "samples/failures.txt"), "utf8")
  .split(/^## /m)
  .slice(1)
  .map((block) => {
    const [, reason = "", exitCode = "", circumstances = "", stderr = ""] =
      /^(\w+), (\d+): (.*)\n([\s\S]*)$/.exec(block) ?? [];
    return { reason, exitCode: Number(exitCode), circumstances, stderr };
  });

test("what restic says becomes a reason, and its own words the message", (t) => {
  t.ok(recorded.length > 30);
  for (const { reason, exitCode, circumstances, stderr } of recorded) {
    const error = errorFromFailure(result(exitCode, stderr));
    t.equal(error.reason, reason, circumstances);
    t.match(error.message, /^sudo -E restic dump ended with exit code \d+: \S/);
    t.notMatch(error.message, /it said nothing|goroutine|asm_amd64|message_type":"exit|\n/, circumstances);
  }
  t.end();
});

test("a good end is no error, and a silent bad one says how it ended", (t) => {
  t.equal(errorFromResult(result(0, "")), undefined);
  t.match(errorFromResult(result(1, "")), {
    reason: "TOOL_FAILED",
    message: /exit code 1: it said nothing$/,
  });
  t.match(errorFromResult(result(null, "")), { reason: "TOOL_FAILED", message: /was ended by SIGKILL/ });
  t.match(errorFromResult(result(127, "env: 'restic': No such file or directory")), {
    reason: "TOOL_MISSING",
  });
  t.end();
});

test("any words of a failure make an error of bounded length", (t) => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 255 }), (stderr, exitCode) => {
      const error = errorFromResult(result(exitCode, stderr));
      return error !== undefined && error.message.length > 0;
    }),
  );
  t.end();
});
