import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import type { InfraError } from "../../../adapters/host/infra-error.ts";
import { errorFromFailure } from "../../../adapters/restic/errors.ts";

function errorFrom(exitCode: number | null, stderr: string, redact = (text: string) => text): InfraError {
  const argv = ["sudo", "-E", "restic", "dump", "--no-cache", "--", "0".repeat(64), "/data"];
  const signal = exitCode === null ? "SIGKILL" : null;
  return errorFromFailure({ argv, exitCode, signal, stdout: "", stderr, durationMs: 1 }, redact);
}

const recorded = readFileSync(join(import.meta.dirname, "samples/failures.txt"), "utf8")
  .split(/^## /m)
  .slice(1)
  .map((block) => {
    const [, reason = "", exitCode = "", circumstances = "", stderr = ""] =
      /^(\w+), (\d+): (.*)\n([\s\S]*)$/.exec(block) ?? [];
    return { reason, exitCode: Number(exitCode), circumstances, stderr };
  });

test("restic's messages are mapped to reasons and kept", (t) => {
  t.ok(recorded.length > 30);
  for (const { reason, exitCode, circumstances, stderr } of recorded) {
    const error = errorFrom(exitCode, stderr);
    t.equal(error.reason, reason, circumstances);
    t.match(error.message, /^sudo -E restic dump ended with exit code \d+: \S/);
    t.notMatch(error.message, /no error message|goroutine|asm_amd64|message_type":"exit|\n/, circumstances);
  }
  t.end();
});

test("the error of an exit without output has the exit code or signal", (t) => {
  t.match(errorFrom(1, ""), { reason: "TOOL_FAILED", message: /exit code 1: no error message$/ });
  t.match(errorFrom(null, ""), { reason: "TOOL_FAILED", message: /was ended by SIGKILL/ });
  t.match(errorFrom(127, "env: 'restic': No such file or directory"), { reason: "TOOL_MISSING" });
  t.end();
});

test("a secret that is part of restic's message is redacted, and does not affect the reason", (t) => {
  const redact = (text: string) => text.replaceAll("password", "[secret]");
  const error = errorFrom(1, "Fatal: wrong password or no key found", redact);
  t.match(error, { reason: "REPOSITORY_KEY_WRONG", message: /Fatal: wrong \[secret\] or no key found$/ });
  t.end();
});

test("any output gives an error of bounded length", (t) => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 255 }), fc.nat(5_000), (stderr, exitCode, times) => {
      const { message } = errorFrom(exitCode, stderr.repeat(times));
      return message.length > 0 && message.length < 1_200;
    }),
  );
  t.end();
});
