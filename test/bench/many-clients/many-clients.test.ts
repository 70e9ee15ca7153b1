import { test } from "tap";
import { sourceSandbox } from "../servers/built-gateway.ts";
import { openFleet } from "./many-clients.ts";

test("every stream of every connection receives the changes, and the sample has all figures", async (t) => {
  const opened = new AsyncDisposableStack();
  t.teardown(() => opened.disposeAsync());
  const fleet = await openFleet(opened, {
    argvOf: sourceSandbox,
    connections: 4,
    streamsPerConnection: 3,
    durationMs: 1_000,
    isPinned: false,
  });
  const sample = await fleet.measure();
  t.equal(sample.behind, 0);
  t.ok(sample.messagesPerSecond >= 12, `${sample.messagesPerSecond} messages per second`);
  for (const [name, value] of Object.entries(sample)) {
    t.ok(Number.isFinite(value), `${name}: ${value}`);
  }
});
