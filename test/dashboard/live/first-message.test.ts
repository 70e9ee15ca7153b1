import { test } from "tap";
import { firstMessage } from "../../../dashboard/live/first-message.ts";

test("returns the first message of a stream and ends the stream", async (t) => {
  let given: AbortSignal | undefined;
  async function* open({ signal }: { readonly signal?: AbortSignal | undefined }) {
    given = signal;
    yield "whole";
    yield "changed";
  }
  t.equal(await firstMessage((options) => open(options as { signal?: AbortSignal }), {}), "whole");
  t.equal(given?.aborted, true);
});

test("a stream that ends without a message is an error", async (t) => {
  async function* open() {
    yield* [];
  }
  await t.rejects(
    firstMessage(() => open(), {}),
    /ended without a message/,
  );
});
