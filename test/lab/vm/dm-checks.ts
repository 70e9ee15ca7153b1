import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";

/** Runs a shell command line, and returns its output. @throws Error if it fails */
export async function shell(command: string): Promise<string> {
  return (await promisify(execFile)("sh", ["-ec", command])).stdout;
}

/** Checks that a call fails for this reason. @throws AssertionError */
export async function assertRefused(call: Promise<unknown>, reason: string): Promise<void> {
  const error = await call.then(
    () => assert.fail(`not rejected: ${reason}`),
    (thrown: unknown) => ConnectError.from(thrown),
  );
  assert.equal(error.findDetails(ErrorInfoSchema)[0]?.reason, reason, error.message);
}
