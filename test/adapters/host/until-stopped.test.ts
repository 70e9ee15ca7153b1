import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { untilStopped } from "../../../adapters/host/until-stopped.ts";
import { libvirtReasons } from "../../../adapters/libvirt/reasons.ts";
import { operationReasons } from "../../../server/operations/reasons.ts";
import { reasonOf } from "./reason-of.ts";

async function read(content: AsyncIterable<Uint8Array>, stop: AbortSignal): Promise<number> {
  let bytes = 0;
  for await (const piece of untilStopped(content, stop, "a program")) {
    bytes += piece.length;
  }
  return bytes;
}

test("a source is read to its end, or to its failure", async (t) => {
  const { signal } = new AbortController();
  async function* source(failure?: Error) {
    yield Buffer.alloc(3);
    yield Buffer.alloc(4);
    if (failure !== undefined) {
      throw failure;
    }
  }
  t.equal(await read(source(), signal), 7);
  t.equal(
    await reasonOf(read(source(new InfraError(libvirtReasons.DOMAIN_STATE, "by the test")), signal)),
    "DOMAIN_STATE",
  );
});

test("a blocked source is abandoned and ended, with the signal's reason as the error", async (t) => {
  const stop = new AbortController();
  const left = Promise.withResolvers<void>();
  const stuck: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        stop.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "by the test"));
        return new Promise(() => {});
      },
      return: async () => {
        left.resolve();
        return { done: true, value: undefined };
      },
    }),
  };
  t.equal(await reasonOf(read(stuck, stop.signal)), "OPERATION_CANCELLED");
  await left.promise;
  t.equal(await reasonOf(read(stuck, AbortSignal.abort())), "CALLER_LEFT");
});
